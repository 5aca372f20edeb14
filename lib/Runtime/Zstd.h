// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Frames of zstd with a checksum; plain functions, so that its header stays in one file.
#pragma once

#include "Runtime/Result.h"

#include <string_view>

namespace tile::runtime {

std::string compressFrame(std::string_view contents);

/// `frame` is one whole frame of `bytes` decompressed bytes, which are at most `limit`: what a damaged or hostile size
/// says is not allocated.
Result<std::string> decompressFrame(std::string_view frame, uint64_t limit);

} // namespace tile::runtime
