// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compresses and decompresses zstd frames with a checksum. The zstd header is included only in Zstd.cpp.
#pragma once

#include "Runtime/Result.h"

#include <string_view>

namespace tile::runtime {

std::string compressFrame(std::string_view contents);

/// Decompresses one complete frame. Fails if the frame declares more than `limit` decompressed bytes, so a corrupt or
/// hostile frame cannot cause a large allocation.
Result<std::string> decompressFrame(std::string_view frame, uint64_t limit);

} // namespace tile::runtime
