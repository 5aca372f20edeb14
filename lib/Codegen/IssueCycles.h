// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates from the machine code how many cycles a warp takes if it is alone on its scheduler.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace tile::codegen {

/// Returns the sum of the stall counts that ptxas has encoded in the instructions of a cubin. Stall counts cover busy
/// units and results of fixed latency, but not waits for memory and tensor cores. Each enclosing loop is assumed to
/// have ten iterations. Returns 0 if the code cannot be decoded.
uint64_t issueCycles(llvm::StringRef cubin);

/// Returns the same sum plus the time for which a warp stalls because of loads from global memory: one latency for each
/// load that is awaited before the next one is issued, and one latency for several loads that are issued in a row.
/// Returns 0 if the code cannot be decoded.
uint64_t loadCycles(llvm::StringRef cubin, uint64_t loadLatency);

} // namespace tile::codegen
