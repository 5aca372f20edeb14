// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the registers that hold live values, to estimate where a kernel needs the most registers.
#pragma once

#include "Simulator/Ptx/Module.h"

namespace tile::sim {

/// Returns for each instruction the number of 32-bit registers of a thread that hold values needed at or after this
/// instruction. Predicates do not count, and 64-bit values count twice.
std::vector<uint32_t> liveRegisters(const Function &function);

} // namespace tile::sim
