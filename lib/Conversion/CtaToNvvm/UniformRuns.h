// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons with one result for a run of registers, such as of columns with their number if that is a multiple of 8.
// They are found while the IR still has tensors, and lowered once per run.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::conversion {

/// Attribute of a comparison: how many registers, starting at a multiple of that, have one result.
inline constexpr llvm::StringLiteral uniformRun = "uniform_run";

/// Annotates the comparisons of a kernel with their runs, unless they are only used by accesses, which test the mask of
/// the first register of each group.
void noteUniformRuns(KernelOp kernel);

} // namespace tile::conversion
