// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bits of 16-bit floating-point values: separate types, so that overloads distinguish them from integers.
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
