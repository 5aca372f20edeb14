// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splitting of the programs of the last wave (stream-K).
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Records in the `work` of a persistent kernel what splitting the tiles of the last wave costs, and where they are
/// split. Does nothing unless all programs accumulate over one loop with the same number of K steps, which must be long
/// enough to be split.
void shareTail(KernelOp kernel);

} // namespace tile
