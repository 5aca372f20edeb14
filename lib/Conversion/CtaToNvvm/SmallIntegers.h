// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fast conversions to floats of integers with a small range, such as 4-bit and 8-bit weights. The conversion
// instruction has a quarter of the throughput of other instructions, and weights are loaded faster than it could
// convert them. Ranges are inferred while the IR still has tensors.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::conversion {

/// An anchor (magic bias): a float whose last place has the value 1. Holds its value, its bits, and the number of
/// consecutive integers that can be added to its bits.
struct Anchor {
  double number;
  uint32_t bits;
  int64_t integers;
  bool isHalf() const { return bits <= UINT16_MAX; }
};

/// Returns the anchor for integers whose range is `span`. The anchor of bf16 can represent only a few integers, and is
/// used only on targets that can subtract in bf16. In other cases, values are converted to f32 and rounded to bf16.
Anchor anchorOf(mlir::Type type, int64_t span, bool hasBF16);

/// Attribute of a conversion: the smallest and the largest integer that it converts.
inline constexpr llvm::StringLiteral integerRange = "integer_range";

/// Attribute of a conversion to f16 whose only use is as a minuend. Its result keeps the anchor, which is added to the
/// subtrahend as well, so the anchors cancel. For integers below 2^11, the difference is exact.
inline constexpr llvm::StringLiteral keepsAnchor = "keeps_anchor";

/// Annotates the conversions of tensors in a kernel with their ranges, if the ranges are small enough for
/// SmallIntegers.cpp. Also marks the conversions whose results keep their anchor.
void noteSmallIntegers(KernelOp kernel);

} // namespace tile::conversion
