// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <string_view>

namespace tile::order {

/// Returns the hash of the PTX without comments, source positions and blank lines.
std::string hashCode(std::string_view ptx);

} // namespace tile::order
