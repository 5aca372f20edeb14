// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between 8-bit floats, which registers hold as i8, and other float types: with instructions on sm_89 and
// later, otherwise with integer operations on the bits.
#pragma once

#include "Target/GpuTarget.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// Converts `bytes`, i8 values that hold floats of type `float8`, to `type`. The conversion is exact.
llvm::SmallVector<mlir::Value> emitFromFloat8(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange bytes,
                                              mlir::Type float8, mlir::Type type, const target::GpuTarget &gpu);

/// Converts `values` to `float8`, rounding to nearest even; values beyond the range become the largest finite value.
llvm::SmallVector<mlir::Value> emitToFloat8(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values,
                                            mlir::Type float8, const target::GpuTarget &gpu);

/// Returns true if a conversion rounds towards zero.
bool roundsTowardsZero(mlir::Operation *op);

/// Returns the bits `nearest`, of a float whose value is `rounded`, after moving them one step towards zero if the
/// magnitude of `rounded` exceeds that of `exact`.
mlir::Value emitStepTowardsZero(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value nearest, mlir::Value rounded,
                                mlir::Value exact);

} // namespace tile::conversion
