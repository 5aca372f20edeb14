// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec a.tile b.tile c=other.cubin -o engine.tilepack`: combines several kernels in a pack or its header.
#pragma once

#include "Options.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace tile {

/// Returns true if the words ask for a pack of kernels: there are several inputs, an artifact, or a name.
bool namesPack(const CommandLine &line);

/// Returns true if the source, whose text `line` has, has several kernels with launch directives, none is chosen, and
/// the output can hold several.
bool hasSeveralKernels(const CommandLine &line);

/// Returns the exit code. `write` writes the result and the dependency file.
int packCommand(const CommandLine &line,
                llvm::function_ref<llvm::Error(const std::string &result, llvm::ArrayRef<std::string> files)> write);

} // namespace tile
