// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where threads that diverged at a branch come together again: the branch's immediate post-dominator.
#pragma once

#include "Simulator/Ptx/Module.h"

namespace tile::sim {

constexpr uint32_t noInstruction = ~0u;

/// One entry an instruction: for a branch that may diverge (a guarded `bra`, `brx.idx`), the first instruction of the
/// block that every path from it to an exit passes; noInstruction for other instructions and where there is none.
std::vector<uint32_t> reconvergencePoints(const Function &function);

} // namespace tile::sim
