// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Aligns trailing comments.
#pragma once

#include "Format/LineLayout.h"

namespace tile::format {

/// Joins lines of text, adding a line end to each. If trailing comments on adjacent lines shared a column in the
/// source, they still do.
std::string joinLines(const std::vector<TextLine> &lines);

} // namespace tile::format
