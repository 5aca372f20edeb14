// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to small floats that go through f32 and still round once.
#pragma once

#include "Target/GpuTarget.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// Returns the f32 towards zero from an f64 or an integer, with its last bit set if that is not exact (round to odd).
/// Rounded to a format of at most 22 bits, it gives the same result as the value itself.
mlir::Value emitRoundedToOdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number, bool isSigned = true);

/// Returns true if LLVM would round a conversion a different number of times than the program: twice, from an integer
/// to bf16, or not at all, from an integer out of range to f16.
bool isRoundedOtherwise(mlir::Operation *op, const target::GpuTarget &gpu);

} // namespace tile::conversion
