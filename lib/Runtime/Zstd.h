// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compresses and decompresses zstd frames with a checksum. Plain functions, so that the zstd header is included in one
// file.
#pragma once

#include "Runtime/Result.h"

#include <string_view>

namespace tile::runtime {

std::string compressFrame(std::string_view contents);

/// Decompresses `frame`, a complete frame of `bytes` decompressed bytes, at most `limit`: the size in a damaged or
/// hostile frame is not allocated.
Result<std::string> decompressFrame(std::string_view frame, uint64_t limit);

} // namespace tile::runtime
