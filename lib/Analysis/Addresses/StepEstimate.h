// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates the distance between neighbouring addresses of a block. If no dimension is known to be contiguous, the
// estimate selects the dimension along which lanes are placed.
#pragma once

#include "mlir/IR/Value.h"

namespace tile {

class AxisInfoAnalysis;

/// Estimates the distance between neighbours along `dim`, in units of the value (for pointers, in elements). The
/// estimate is exact for constants. A parameter is assumed to be large, and larger if it is a multiple of 16. Quotients
/// by a parameter are assumed to be small, and loaded values arbitrary. Returns 0 if neighbours are equal.
double estimateStep(mlir::Value value, unsigned dim, AxisInfoAnalysis &axisInfo);

} // namespace tile
