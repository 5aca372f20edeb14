// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides which adjacent tokens of a line are separated by a space.
#pragma once

#include "Format/SourceLines.h"

namespace tile::format {

/// Returns, for each element, whether a space precedes it if it shares a line with its predecessor. Comments are
/// ignored.
std::vector<bool> findSpaces(const std::vector<Element> &elements);

/// Returns true if an opening bracket after this token begins a call or an index.
bool endsOperand(frontend::Tok kind);

} // namespace tile::format
