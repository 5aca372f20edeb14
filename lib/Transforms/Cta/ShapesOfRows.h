// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed of accumulators, and which of their shapes do not take their layout, in which a column is
// spread over eight lanes.
#pragma once

#include "Tile/TileDialect.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

/// The values and what is computed from them, element by element, also across the iterations of loops.
llvm::SetVector<mlir::Value> collectComputed(llvm::SetVector<mlir::Value> values);

/// What is mostly reduced along columns, or by a loop that multiplies nothing, as one row of a block after the other,
/// and what multiply-adds compute. What is made of a block of another shape, as unpacked weights, stays in the threads
/// that have it.
llvm::DenseSet<llvm::ArrayRef<int64_t>> collectShapesOfRows(KernelOp kernel);

} // namespace tile
