// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes reconvergence points: where threads that diverged at a branch merge again, at the branch's immediate
// post-dominator.
#pragma once

#include "Simulator/Ptx/Module.h"

namespace tile::sim {

constexpr uint32_t noInstruction = ~0u;

/// Returns one entry per instruction. For a branch that may diverge (a guarded `bra`, or `brx.idx`), it is the first
/// instruction of the nearest block that every path from the branch to an exit passes. It is noInstruction for other
/// instructions, and for a branch without such a block.
std::vector<uint32_t> reconvergencePoints(const Function &function);

} // namespace tile::sim
