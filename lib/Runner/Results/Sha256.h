// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 (FIPS 180-4), by which a manifest identifies the source of its kernel. The compiler takes LLVM's; tile-run
// links no LLVM.
#pragma once

#include <string>
#include <string_view>

namespace tile::runner {

/// Returns the hash in 64 hexadecimal digits, in lower case.
std::string sha256(std::string_view bytes);

} // namespace tile::runner
