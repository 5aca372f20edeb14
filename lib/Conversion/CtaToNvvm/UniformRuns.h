// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons that have the same result for a run of registers, such as comparisons of columns with a column count that
// is a multiple of 8. They are found while the IR still has tensors, and lowered once per run.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::conversion {

/// Attribute of a comparison: the length of its runs. A run starts at a register that is a multiple of the length, and
/// its registers have the same result.
inline constexpr llvm::StringLiteral uniformRun = "uniform_run";

/// Annotates the comparisons of a kernel with the lengths of their runs. Skips comparisons that only loads and stores
/// use: these test only the mask of the first register of each group anyway.
void noteUniformRuns(KernelOp kernel);

} // namespace tile::conversion
