// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to floats of integers that have few values, such as weights of 4 and 8 bits. The conversion instruction
// has a quarter of the throughput of others, and such weights are read faster than it converts them. Ranges are found
// while tensors tell.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::conversion {

/// Of a conversion: the least and the greatest integer that it converts.
inline constexpr llvm::StringLiteral integerRange = "integer_range";

/// Notes the ranges of a kernel's conversions of tensors, where they are small enough for what SmallIntegers.cpp does.
void noteSmallIntegers(KernelOp kernel);

} // namespace tile::conversion
