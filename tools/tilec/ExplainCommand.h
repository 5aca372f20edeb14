// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec explain`: a page, or a JSON document, about a kernel.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// `words` stand after `tilec explain`. Returns the process's exit code.
int explainCommand(llvm::ArrayRef<const char *> words);

} // namespace tile
