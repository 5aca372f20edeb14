// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 16-bit floating-point values as bits. They have types of their own so that overloads distinguish them from integers.
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
