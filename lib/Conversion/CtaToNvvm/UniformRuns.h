// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons that have the same result for a run of registers, such as comparisons of columns with a column count that
// is a multiple of 8. They are found while the IR still has tensors, and lowered once per run.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::conversion {

/// Attribute of a comparison: the length of its runs. The index of a run's first register is a multiple of the length,
/// and the result is the same for all registers of a run.
inline constexpr llvm::StringLiteral uniformRun = "uniform_run";

/// Annotates the comparisons of a kernel with the lengths of their runs. Skips comparisons that are used only by loads
/// and stores, because these accesses test only the mask of the first register of each group anyway.
void noteUniformRuns(KernelOp kernel);

} // namespace tile::conversion
