// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec format`: the formatter of `.tile` files.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// `words` stand after `tilec format`. Returns the process's exit code.
int formatCommand(llvm::ArrayRef<const char *> words);

} // namespace tile
