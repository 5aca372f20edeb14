// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How CTAs share the programs of the last wave.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Says in the `work` of a persistent kernel what it costs to split the tiles of the last wave, and where they are cut.
/// Does nothing to kernels whose programs do not accumulate over one loop of as many K steps, long enough to be cut.
void shareTail(KernelOp kernel);

} // namespace tile
