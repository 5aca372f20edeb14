// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to small floats that go through f32 and still round once.
#pragma once

#include "Target/GpuTarget.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// The f32 towards zero from a number of f64 or of an integer type, with its last bit set where that is not exact
/// (round to odd): rounded to a format of at most 22 bits, it gives what the number itself would.
mlir::Value emitRoundedToOdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number, bool isSigned = true);

/// Whether LLVM would round a conversion another number of times than the program: twice, from an integer to bf16, or
/// not at all, where an integer becomes f16 and is beyond its range.
bool isRoundedOtherwise(mlir::Operation *op, const target::GpuTarget &gpu);

} // namespace tile::conversion
