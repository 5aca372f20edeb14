// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec run`: compiles and runs a kernel.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// Runs the command with the `words` after `tilec run`. Returns the exit code of the process.
int runCommand(llvm::ArrayRef<const char *> words);

} // namespace tile
