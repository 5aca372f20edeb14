// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in its machine code a kernel spills.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile::codegen {

/// Whether a cubin that spills does so outside of loops, but for up to `few` accesses of a long loop, which are no
/// hundredth of its instructions. False, too, if its code is not understood.
bool spillsHardlyInLoops(llvm::StringRef cubin, unsigned few);

} // namespace tile::codegen
