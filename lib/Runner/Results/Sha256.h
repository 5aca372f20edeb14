// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 (FIPS 180-4), which a manifest uses to identify the source of its kernel. The compiler uses LLVM's
// implementation, but tile-run does not link LLVM.
#pragma once

#include <string>
#include <string_view>

namespace tile::runner {

/// Returns the hash as 64 lower-case hexadecimal digits.
std::string sha256(std::string_view bytes);

} // namespace tile::runner
