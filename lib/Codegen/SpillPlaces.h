// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where in its machine code a kernel spills.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace tile::codegen {

/// Whether a cubin that spills does so outside of loops only. False, too, if its code is not understood.
bool spillsOutsideLoops(llvm::StringRef cubin);

} // namespace tile::codegen
