// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec explain`: writes a page, or a JSON document, about a kernel.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// Runs the command with the `words` after `tilec explain`. Returns the exit code of the process.
int explainCommand(llvm::ArrayRef<const char *> words);

} // namespace tile
