// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How far apart neighbouring elements of addresses are likely to be, to choose the dimension along which lanes walk
// where nothing is known to be contiguous.
#pragma once

#include "mlir/IR/Value.h"

namespace tile {

class AxisInfoAnalysis;

/// The distance between neighbours along `dim`, in units of what is counted (of pointers: elements), as far as it can
/// be guessed: exact for constants; a parameter is taken to be large, and larger if it is a multiple of 16; quotients
/// by it small; what is loaded, anything. 0 if neighbours are equal.
double estimateStep(mlir::Value value, unsigned dim, AxisInfoAnalysis &axisInfo);

} // namespace tile
