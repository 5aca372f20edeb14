// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules that are built into the compiler, as source text.

#pragma once

#include <string_view>

namespace tile::frontend {

/// Returns the source text of the built-in module with this dotted name; empty if there is none.
std::string_view helperModule(std::string_view path);

} // namespace tile::frontend
