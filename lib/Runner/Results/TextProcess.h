// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program that reads a text and writes another one.
#pragma once

#include "Runtime/Result.h"

#include <string>
#include <vector>

namespace tile::runner {

/// What the program writes to its standard output; the error says why there is nothing.
runtime::Result<std::string> runWithInput(const std::vector<std::string> &command, const std::string &input);

} // namespace tile::runner
