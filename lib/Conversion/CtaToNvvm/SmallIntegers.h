// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to floats of integers that have few values, such as weights of 4 and 8 bits. The conversion instruction
// has a quarter of the throughput of others, and such weights are loaded faster than it converts them. Ranges are
// computed while the IR still has tensors.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::conversion {

/// A float whose last place counts ones: the value, its bits, and the number of consecutive integers that follow it.
struct Anchor {
  double number;
  uint32_t bits;
  int64_t integers;
  bool isHalf() const { return bits <= UINT16_MAX; }
};

/// Returns the anchor for integers whose range is `span`. That of bf16 is followed by few integers, and only targets
/// that subtract in bf16 use it; other bf16 values are rounded from fp32.
Anchor anchorOf(mlir::Type type, int64_t span, bool hasBF16);

/// Attribute of a conversion: the smallest and the largest integer that it converts.
inline constexpr llvm::StringLiteral integerRange = "integer_range";

/// Attribute of a conversion to f16 that is only subtracted from: its result keeps the anchor, and the anchor is added
/// to the subtrahend, too. Their difference, of integers below 2^11, is exact.
inline constexpr llvm::StringLiteral keepsAnchor = "keeps_anchor";

/// Annotates a kernel's conversions of tensors with their ranges, if they are small enough for SmallIntegers.cpp, and
/// with anchors that stay.
void noteSmallIntegers(KernelOp kernel);

} // namespace tile::conversion
