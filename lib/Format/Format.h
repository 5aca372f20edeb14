// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The formatter of `.tile` files: `tilec format`, and formatting in editors. README.md has the style.
//
// It works on tokens, so that half a program is formatted, too, and only moves what stands between them: blanks, line
// ends and comments. Names, literals, directives and the words of comments stay as they are.
#pragma once

#include "Frontend/Syntax/Diagnostics.h"

namespace tile::format {

/// The text in the style. Nothing if the text cannot be taken apart into tokens (a bracket or a string that is not
/// closed, say): then the reasons are in the engine, which the file is added to.
std::optional<std::string> format(const frontend::SourceFile &file, frontend::DiagnosticEngine &diagnostics);

} // namespace tile::format
