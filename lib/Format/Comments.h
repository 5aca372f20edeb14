// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Aligns trailing comments.
#pragma once

#include "Format/LineLayout.h"

namespace tile::format {

/// Joins the lines of text, each with a line end. Trailing comments on adjacent lines that shared a column still
/// do.
std::string joinLines(const std::vector<TextLine> &lines);

} // namespace tile::format
