// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of a loop in the program: `tl.range(n, num_stages=3)`.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Returns the number of pipeline stages that the loop requests; if the loop requests none, the kernel's number of
/// stages.
inline int64_t getNumStages(mlir::Operation *loop) {
  auto own = loop->getAttrOfType<mlir::IntegerAttr>(numStagesAttrName);
  return own ? own.getInt() : loop->getParentOfType<KernelOp>().getNumStages();
}

} // namespace tile
