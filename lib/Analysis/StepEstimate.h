// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates the distance between neighbouring addresses of a block, to choose the dimension along which lanes run if no
// dimension is known to be contiguous.
#pragma once

#include "mlir/IR/Value.h"

namespace tile {

class AxisInfoAnalysis;

/// Estimates the distance between neighbours along `dim`, in units of the value (for pointers: in elements). Exact for
/// constants. A parameter is assumed to be large, and larger if it is a multiple of 16. Quotients by a parameter are
/// assumed to be small, and loaded values arbitrary. Returns 0 if neighbours are equal.
double estimateStep(mlir::Value value, unsigned dim, AxisInfoAnalysis &axisInfo);

} // namespace tile
