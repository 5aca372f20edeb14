// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects the engine that reads operands from shared memory, wgmma or tcgen05, for decisions that are the same for
// both.
#pragma once

#include "Target/Engines/Wgmma.h"

namespace tile::target {

struct BufferEngineResult {
  bool isPlanned = false;
  unsigned groupsN = 1; ///< the number of parts into which warp groups split the columns
  std::string reason;   ///< If there is no plan, the reason: a clause without a capital letter or a period.
};

bool hasBufferEngine(const GpuTarget &target);
/// Returns "tcgen05" for targets that have it; otherwise "wgmma", even for targets with neither engine.
std::string_view nameOfBufferEngine(const GpuTarget &target);
BufferEngineResult planBufferEngine(const GpuTarget &target, const WgmmaDot &dot);
/// Returns why the engine cannot compute dots with these types and memory layouts, whatever their sizes; empty if it
/// can.
std::string whyNoBufferEngine(const GpuTarget &target, const WgmmaDot &dot);

} // namespace tile::target
