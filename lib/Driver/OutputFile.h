// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads inputs and writes results. A file is replaced atomically once its new contents are complete, or not at all. It
// keeps its permissions, and symbolic links to it continue to work.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace tile::driver {

/// Reads a file; `path` "-" is standard input.
llvm::Expected<std::string> readInput(llvm::StringRef path);

/// Writes a file; `path` "-" is standard output. Devices such as /dev/null are written in place.
llvm::Error writeOutput(llvm::StringRef path, llvm::StringRef contents);

/// Returns the rule "output: file..." in the syntax of make and ninja.
std::string dependencyRule(llvm::StringRef output, llvm::ArrayRef<std::string> files);

} // namespace tile::driver
