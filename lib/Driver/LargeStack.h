// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs passes on a large stack. The passes recurse along chains of operations, and a kernel may be a single chain of a
// hundred thousand operations.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::driver {

/// Runs `work` in a thread with a stack of 1 GiB, which is committed on demand, and waits for it. Falls back to the
/// current stack if there is not enough address space.
void runOnLargeStack(llvm::function_ref<void()> work);

} // namespace tile::driver
