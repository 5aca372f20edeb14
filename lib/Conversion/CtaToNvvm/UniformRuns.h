// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons that have one result for a run of registers, as of columns with their number where that is a multiple
// of 8. They are found while tensors tell, and lowered once for each run.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::conversion {

/// Of a comparison: how many registers, from a multiple of that, have one result.
inline constexpr llvm::StringLiteral uniformRun = "uniform_run";

/// Notes the runs of a kernel, but where only accesses use them, which look at the first register of each group.
void noteUniformRuns(KernelOp kernel);

} // namespace tile::conversion
