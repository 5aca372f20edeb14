// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Passes walk chains of operations, and a kernel may be one of a hundred thousand.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::driver {

/// Runs `work` in a thread with a stack of 1 GiB, of which only what is touched takes memory, and waits for it. Where
/// so much address space is not to be had, the usual stack has to do.
void runOnLargeStack(llvm::function_ref<void()> work);

} // namespace tile::driver
