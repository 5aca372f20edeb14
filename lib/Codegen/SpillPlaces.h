// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locations of spills in the machine code of a kernel.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile::codegen {

/// Returns true if the cubin spills, but hardly in loops: in each loop, at most `few` accesses, and at most 1 % of the
/// instructions, are spills. Code without loops is treated as one loop. Returns false if the code cannot be decoded.
bool spillsHardlyInLoops(llvm::StringRef cubin, unsigned few);

} // namespace tile::codegen
