// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How long a warp takes to issue its instructions when it has a scheduler to itself.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tile::codegen {

/// Cycles that pass from each instruction of a cubin to the next one because ptxas says so, since the next one needs
/// its result or its unit; ten times as many for each loop around. Not what memory and tensor cores take. 0 if the code
/// is not understood.
uint64_t issueCycles(llvm::StringRef cubin);

/// The same with the latency of loads from global memory: a load whose result is needed before the next one is issued
/// costs all of it, loads in a row cost it once. 0 if the code is not understood.
uint64_t loadCycles(llvm::StringRef cubin);

} // namespace tile::codegen
