// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engine that reads operands from shared memory, whichever the target has: wgmma or tcgen05. For decisions that do
// not depend on which it is.
#pragma once

#include "Target/Engines/Wgmma.h"

namespace tile::target {

struct BufferEngineResult {
  bool isPlanned = false;
  unsigned groupsN = 1; ///< Parts of the columns that different warp groups multiply.
  std::string reason;   ///< If there is no plan: a clause without capital and period.
};

bool hasBufferEngine(const GpuTarget &target);
/// Returns "wgmma" or "tcgen05": the engine of the target, or the one that it would need.
std::string_view nameOfBufferEngine(const GpuTarget &target);
BufferEngineResult planBufferEngine(const GpuTarget &target, const WgmmaDot &dot);
/// Returns why the engine does not compute dots of such types and orders, whatever their sizes; empty if it does.
std::string whyNoBufferEngine(const GpuTarget &target, const WgmmaDot &dot);

} // namespace tile::target
