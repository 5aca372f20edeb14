// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches of fuzzed PTX: each kernel of a module is loaded, and run with arguments that nobody would give it, for few
// instructions. Whatever it does, it may only be refused or reported; the rest is for the sanitizers.
#pragma once

#include "Simulator/Ptx/Module.h"

namespace tile::fuzz {

/// `seed` decides about grid, arguments and schedule.
void launchKernels(const sim::Module &module, uint64_t seed);

} // namespace tile::fuzz
