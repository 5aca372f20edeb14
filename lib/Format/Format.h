// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formatter of `.tile` files, for `tilec format` and for editors. README.md specifies the style.
//
// It works on tokens, so incomplete programs are formatted, too. It only changes whitespace, line ends and the
// positions of comments. Names, literals, directives and the text of comments stay as they are.
#pragma once

#include "Frontend/Syntax/Diagnostics.h"

namespace tile::format {

/// Formats the text. Returns nullopt if it cannot be split into tokens (for example, because of an unclosed bracket or
/// string); the errors are then in the engine, to which the file is added.
std::optional<std::string> format(const frontend::SourceFile &file, frontend::DiagnosticEngine &diagnostics);

} // namespace tile::format
