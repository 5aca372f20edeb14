// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bits of 16-bit floating-point values: types of their own, so that overloads can tell them from integers.
#pragma once

#include <cstdint>

namespace tile::sim {

struct Half {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

} // namespace tile::sim
