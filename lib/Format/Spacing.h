// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which neighbours on a line have a blank between them.
#pragma once

#include "Format/SourceLines.h"

namespace tile::format {

/// For each element whether a blank stands before it, if both are on one line. Not for comments.
std::vector<bool> findSpaces(const std::vector<Element> &elements);

/// An opening bracket behind one of these is that of a call or of an index.
bool endsOperand(frontend::Tok kind);

} // namespace tile::format
