// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to floats of integers that have few values, such as weights of 4 and 8 bits. The conversion instruction
// has a quarter of the throughput of others, and such weights are read faster than it converts them. Ranges are found
// while tensors tell.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::conversion {

/// Where the last place of a float counts ones: the number, its bits, and how many integers follow it.
struct Anchor {
  double number;
  uint32_t bits;
  int64_t places;
  bool isHalf() const { return bits <= UINT16_MAX; }
};

/// Of integers of which the greatest is `span` more than the least. Those of bf16 follow few integers, and only targets
/// that subtract in bf16 have them; other numbers in bf16 are rounded from fp32.
Anchor anchorOf(mlir::Type type, int64_t span, bool hasBF16);

/// Of a conversion: the least and the greatest integer that it converts.
inline constexpr llvm::StringLiteral integerRange = "integer_range";

/// Of a conversion to f16 that is only subtracted from: its result is still greater by the anchor, and so is what is
/// subtracted. Their difference, of integers below 2^11, is exact.
inline constexpr llvm::StringLiteral keepsAnchor = "keeps_anchor";

/// Notes the ranges of a kernel's conversions of tensors, where they are small enough for what SmallIntegers.cpp does,
/// and anchors that stay.
void noteSmallIntegers(KernelOp kernel);

} // namespace tile::conversion
