// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A scaled dot as a dot of 16-bit floats:
//
//   tile.dot_scaled %a scale %s as e2m1, %b as bf16, %c   ==>   %x = (elements of %a) * (2^(s - 127), 32 times each)
//                                                               tile.dot %x, %b, %c : bf16
//
// bf16 represents all elements of 8 and 4 bits, all scales and nearly all products exactly.
#pragma once

#include "Tile/TileDialect.h"

#include "mlir/IR/Builders.h"

namespace tile {

/// Emits an equivalent dot whose operands are converted to 16-bit floats.
mlir::Value expandScaledDot(mlir::OpBuilder &builder, DotScaledOp dot);

/// Unpacks a tensor of e2m1 elements, of which two share a byte along `axis`, to 16-bit floats of type `element`.
mlir::Value unpackE2M1(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value packed, unsigned axis,
                       mlir::FloatType element);

} // namespace tile
