// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Suggests known names for a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// Returns the number of insertions, deletions and substitutions between two texts.
size_t editDistance(std::string_view a, std::string_view b);

/// Returns "; it has a, b, c" for the message. Of more than five names it lists the nearest five and the number of all,
/// because an artifact may have hundreds of variants.
std::string knownNames(std::string_view name, std::vector<std::string> known);

} // namespace tile::runtime
