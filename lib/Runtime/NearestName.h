// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Suggests known names for a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// Returns the number of insertions, deletions and substitutions that turn one string into the other.
size_t editDistance(std::string_view a, std::string_view b);

/// Returns "; it has a, b, c" to append to an error message. If there are more than five names, lists the five nearest
/// and the total number, because an artifact may have hundreds of variants.
std::string knownNames(std::string_view name, std::vector<std::string> known);

} // namespace tile::runtime
