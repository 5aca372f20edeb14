// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which known names a mistyped one may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// Insertions, deletions and substitutions between two texts.
size_t editDistance(std::string_view a, std::string_view b);

/// "it has a, b and c" as "; it has a, b, c"; of more than five names, the nearest five and how many there are, because
/// an artifact may have hundreds of variants.
std::string knownNames(std::string_view name, std::vector<std::string> known);

} // namespace tile::runtime
