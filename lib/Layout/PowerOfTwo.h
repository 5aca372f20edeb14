// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers for power-of-two sizes, which are represented by the number of their bits.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

namespace tile::layout {

inline unsigned log2Of(int64_t size) {
  assert(size > 0 && std::has_single_bit(static_cast<uint64_t>(size)) && "sizes are powers of two");
  return std::countr_zero(static_cast<uint64_t>(size));
}

} // namespace tile::layout
