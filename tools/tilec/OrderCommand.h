// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace tile {

/// `tilec order kernel.tile` or `tilec order X.cubin`; returns the exit code.
int orderCommand(llvm::ArrayRef<const char *> words);

} // namespace tile
