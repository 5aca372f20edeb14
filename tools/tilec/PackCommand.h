// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec a.tile b.tile c=other.cubin -o engine.tilepack`: combines several kernels in a pack or its header.
#pragma once

#include "Options.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

namespace tile {

/// Returns true if the command line asks for a pack: there are several inputs, an input that is an artifact, or a
/// NAME=FILE input.
bool namesPack(const CommandLine &line);

/// Returns true if the source, already loaded into `line`, has several kernels with launch directives, none of them is
/// selected, and the output can contain several.
bool hasSeveralKernels(const CommandLine &line);

/// Makes the pack and returns the exit code. `write` writes the result and the dependency file.
int packCommand(const CommandLine &line,
                llvm::function_ref<llvm::Error(const std::string &result, llvm::ArrayRef<std::string> files)> write);

} // namespace tile
