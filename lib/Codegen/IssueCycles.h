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

} // namespace tile::codegen
