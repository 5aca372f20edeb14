// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec verify`: proves that a kernel's accesses are in bounds, or finds counterexamples.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// Runs the command with the `words` after `tilec verify`. Returns the exit code of the process.
int verifyCommand(llvm::ArrayRef<const char *> words);

} // namespace tile
