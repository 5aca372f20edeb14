// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formatter for `.tile` files, used by `tilec format` and by editors. README.md specifies the style.
//
// The formatter works on tokens, so it also formats incomplete programs. It changes only whitespace, line ends and the
// positions of comments. Names, literals, directives and the text of comments do not change.
#pragma once

#include "Frontend/Syntax/Diagnostics.h"

namespace tile::format {

/// Formats the text. Returns nullopt if it cannot be split into tokens (for example, because of an unclosed bracket or
/// string); the errors are then in the engine, to which the file is added.
std::optional<std::string> format(const frontend::SourceFile &file, frontend::DiagnosticEngine &diagnostics);

} // namespace tile::format
