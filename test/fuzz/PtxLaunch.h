// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches of fuzzed PTX: each kernel of a module is loaded, and run with unusual arguments, for few instructions. It
// may only be rejected or reported; sanitizers find everything else.
#pragma once

#include "Simulator/Ptx/Module.h"

namespace tile::fuzz {

/// `seed` determines grid, arguments and schedule.
void launchKernels(const sim::Module &module, uint64_t seed);

} // namespace tile::fuzz
