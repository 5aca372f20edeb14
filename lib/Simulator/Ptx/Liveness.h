// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the registers that hold live values: an estimate of where a kernel needs most registers.
#pragma once

#include "Simulator/Ptx/Module.h"

namespace tile::sim {

/// Returns for each instruction the number of 32-bit registers of a thread that hold values needed at it or after it.
/// Predicates do not count, values of 64 bits count twice.
std::vector<uint32_t> liveRegisters(const Function &function);

} // namespace tile::sim
