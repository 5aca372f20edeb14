// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comments behind code.
#pragma once

#include "Format/LineLayout.h"

namespace tile::format {

/// The lines of text, each with its line end. Comments on neighbouring lines that stood in one column still do.
std::string joinLines(const std::vector<TextLine> &lines);

} // namespace tile::format
