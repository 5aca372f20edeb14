// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a kernel smaller while it still fails in the same way: statements and blocks are removed, blocks are replaced
// by their contents, and expressions by their parts.
#pragma once

#include <functional>
#include <string>

namespace tile::fuzz {

/// `fails` returns true if a smaller text still fails in the same way.
std::string reduceKernel(std::string text, const std::function<bool(const std::string &)> &fails);

} // namespace tile::fuzz
