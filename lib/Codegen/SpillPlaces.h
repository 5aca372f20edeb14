// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locations of spills in the machine code of a kernel.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile::codegen {

/// Returns true if the cubin spills, and all spills are outside of loops except for up to `few` accesses per loop,
/// which are at most 1 % of its instructions. Code without loops is treated as one loop. Returns false if the code
/// cannot be decoded.
bool spillsHardlyInLoops(llvm::StringRef cubin, unsigned few);

} // namespace tile::codegen
