// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec run`: compile and run in one.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// `words` stand after `tilec run`. Returns the process's exit code.
int runCommand(llvm::ArrayRef<const char *> words);

} // namespace tile
