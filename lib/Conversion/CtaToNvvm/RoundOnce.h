// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions to small floats that go through f32 and still round once.
#pragma once

#include "Target/GpuTarget.h"

#include "mlir/IR/Builders.h"

namespace tile::conversion {

/// The f32 towards zero from a number of f64 or of an integer type, with its last bit set where that is not exact
/// (round to odd): rounded to a format of at most 22 bits, it gives what the number itself would.
mlir::Value emitRoundedToOdd(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number, bool isSigned = true);

/// Whether a conversion of an integer to bf16 is one for which LLVM would round twice.
bool roundsTwice(mlir::Operation *op, const target::GpuTarget &gpu);

} // namespace tile::conversion
