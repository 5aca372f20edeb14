// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of products' sums that do not take the sums' layout, in which a column is spread over eight lanes.
#pragma once

#include "Tile/TileDialect.h"

#include "llvm/ADT/DenseSet.h"

namespace tile {

/// What is mostly reduced along columns, or by a loop that multiplies nothing, as one row of a block after the other,
/// and what multiply-adds compute.
llvm::DenseSet<llvm::ArrayRef<int64_t>> collectShapesOfRows(KernelOp kernel);

} // namespace tile
