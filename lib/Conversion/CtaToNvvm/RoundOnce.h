// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to small floats that go through f32 but round only once.
#pragma once

#include "Target/GpuTarget.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// Converts an f64 or an integer to f32, rounding to odd: truncates, and sets the last bit of the result if it is
/// inexact. Rounding this f32 to a format of at most 22 bits gives the same result as rounding the original value.
mlir::Value emitRoundedToOdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number, bool isSigned = true);

/// Returns true if LLVM would round the result of a conversion twice (from an integer to bf16), or would not return
/// infinity for an out-of-range value (from an integer to f16).
bool isRoundedOtherwise(mlir::Operation *op, const target::GpuTarget &gpu);

} // namespace tile::conversion
