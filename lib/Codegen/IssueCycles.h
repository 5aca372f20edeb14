// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Static estimate of the issue cycles of a warp that has a scheduler to itself.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tile::codegen {

/// Returns the sum of the stall counts that ptxas has encoded in the instructions of a cubin, for results and units of
/// fixed latency; multiplied by ten for each enclosing loop. Excludes waits for memory and tensor cores. Returns 0 if
/// the code cannot be decoded.
uint64_t issueCycles(llvm::StringRef cubin);

/// Returns the same sum plus the time that a warp stalls for loads from global memory: a latency for each load that is
/// awaited before the next one issues, one latency for loads in a row. Returns 0 if the code cannot be decoded.
uint64_t loadCycles(llvm::StringRef cubin, uint64_t loadLatency);

} // namespace tile::codegen
