// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes a kernel smaller while it still fails in the same way: statements and blocks are left out, blocks are replaced
// by what is in them, and expressions by their parts.
#pragma once

#include <functional>
#include <string>

namespace tile::fuzz {

/// `fails` says whether a smaller text is as good as the one before.
std::string reduceKernel(std::string text, const std::function<bool(const std::string &)> &fails);

} // namespace tile::fuzz
