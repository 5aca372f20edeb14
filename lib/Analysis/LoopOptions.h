// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the program asks of one loop: `tl.range(n, num_stages=3)`.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// How many iterations of a loop are under way at once: as the loop says, else as the kernel.
inline int64_t getNumStages(mlir::Operation *loop) {
  auto own = loop->getAttrOfType<mlir::IntegerAttr>(numStagesAttrName);
  return own ? own.getInt() : loop->getParentOfType<KernelOp>().getNumStages();
}

} // namespace tile
