// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec format`: the formatter of `.tile` files.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// Runs the command with the `words` after `tilec format`. Returns the exit code of the process.
int formatCommand(llvm::ArrayRef<const char *> words);

} // namespace tile
