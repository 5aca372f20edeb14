// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a program that reads text from standard input and writes text to standard output.
#pragma once

#include "Runtime/Result.h"

#include <string>
#include <vector>

namespace tile::runner {

/// Returns the standard output of the program, or an error with the reason for its failure.
runtime::Result<std::string> runWithInput(const std::vector<std::string> &command, const std::string &input);

} // namespace tile::runner
