// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync dots, split into K steps of the instruction.
//
// A dot with operands in shared memory becomes one mma_sync per K step. The operands of a step are loaded while the
// previous step executes, and cta-pipeline can load the operands of the first step one iteration ahead.
//
//   %x = cta.local_load %a                       %x0, %y0 = cta.local_load at [0, 0]
//   %y = cta.local_load %b                 ==>   %x1, %y1 = cta.local_load at [0, 16], at [16, 0]
//   %d = cta.mma_sync %x, %y, %c                 %d0 = cta.mma_sync %x0, %y0, %c
//                                                %d  = cta.mma_sync %x1, %y1, %d0
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Splits dots whose operands have no other reader and are loaded after the last write of their buffers.
void splitIntoSteps(KernelOp kernel);

} // namespace tile
