// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values computed from accumulators, and shapes that keep a row layout instead of the accumulator's, in which a column
// is spread over eight lanes.
#pragma once

#include "Tile/TileDialect.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

/// Returns the values, and all values that are computed from them element by element, including across loop iterations.
llvm::SetVector<mlir::Value> collectComputed(llvm::SetVector<mlir::Value> values);

/// Returns the shapes that keep a row layout: those mostly reduced along columns, those reduced in a loop without MMAs,
/// for example over the rows of a block, and those of FMA dots. A tensor reshaped from a block of another shape, such
/// as unpacked weights, stays in the threads that hold it.
llvm::DenseSet<llvm::ArrayRef<int64_t>> collectShapesOfRows(KernelOp kernel);

} // namespace tile
