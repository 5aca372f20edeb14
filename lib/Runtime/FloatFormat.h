// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts between double and the small floating-point formats, in software and bit-exact.
//
//   f16 1-5-10   bf16 1-8-7   f8e5m2 1-5-2   f8e4m3 1-4-3 (no infinity; S.1111.111 is NaN; largest 448)
//
// Narrowing rounds to nearest, ties to even, in a single step from double. f16, bf16 and f8e5m2 overflow to infinity.
// f8e4m3, which has no infinity, overflows to NaN, as the non-saturating hardware conversion does.
#pragma once

#include "Runtime/DataType.h"

namespace tile::runtime {

/// Convert to and from the bits of a floating-point type, which are right-aligned.
uint64_t encodeFloat(DataType type, double value);
double decodeFloat(DataType type, uint64_t bits);

} // namespace tile::runtime
