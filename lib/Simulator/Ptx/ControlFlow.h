// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reconvergence points: where threads that diverged at a branch merge, the branch's immediate post-dominator.
#pragma once

#include "Simulator/Ptx/Module.h"

namespace tile::sim {

constexpr uint32_t noInstruction = ~0u;

/// Returns one entry per instruction: for a branch that may diverge (a guarded `bra`, `brx.idx`), the first instruction
/// of the block that every path from it to an exit passes; noInstruction for other instructions, and if there is none.
std::vector<uint32_t> reconvergencePoints(const Function &function);

} // namespace tile::sim
