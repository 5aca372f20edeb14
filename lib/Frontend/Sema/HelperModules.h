// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that the compiler brings along in the language's own text.

#pragma once

#include <string_view>

namespace tile::frontend {

/// The text of a module by its dotted name; empty if there is none.
std::string_view helperModule(std::string_view path);

} // namespace tile::frontend
