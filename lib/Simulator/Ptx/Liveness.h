// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which registers hold a value that is still needed: what a kernel asks of the register file where it needs most.
//
// Registers of PTX are virtual: ptxas moves instructions, and keeps what it can compute again. The numbers say which
// lines hold many values, not what a thread gets.
#pragma once

#include "Simulator/Ptx/Module.h"

namespace tile::sim {

/// For each instruction: the 32-bit registers of a thread that hold values needed at it or after it. Predicates count
/// nothing, values of 64 bits twice.
std::vector<uint32_t> liveRegisters(const Function &function);

} // namespace tile::sim
