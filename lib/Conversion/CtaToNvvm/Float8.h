// Conversions between 8-bit floats, which registers hold as i8, and the other float types (sm_89 and later).
#pragma once

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// i8 values that are numbers of type `float8`, as `type`; exact.
llvm::SmallVector<mlir::Value> emitFromFloat8(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange bytes,
                                              mlir::Type float8, mlir::Type type);

/// Rounds to nearest even; values beyond the range become the largest finite number.
llvm::SmallVector<mlir::Value> emitToFloat8(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange values,
                                            mlir::Type float8);

} // namespace tile::conversion
