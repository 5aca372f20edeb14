// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles one input of the command line, with the cache of `--cache`.
#pragma once

#include "Request.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile {

/// Compiles `line.compiler.inputText`, or finds the result in the cache. Prints messages. Calls `use` with the result
/// before caching it; an error that `use` returns is reported as an error of the compilation. If `isLast`, the process
/// ends afterwards, so memory is not freed.
driver::Outcome compileKernel(CommandLine line, llvm::function_ref<llvm::Error(const Answer &)> use, bool isLast);

} // namespace tile
