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

/// Returns the shapes that keep a row layout: shapes mostly reduced along columns, shapes reduced in a loop without
/// MMAs (for example over the rows of a block), and shapes of FMA dots. A tensor that is reshaped from a block of
/// another shape, such as unpacked weights, also keeps its layout, so that its elements stay in their threads.
llvm::DenseSet<llvm::ArrayRef<int64_t>> collectShapesOfRows(KernelOp kernel);

} // namespace tile
