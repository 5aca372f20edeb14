// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds PTX in an image that a program passes to the driver: PTX text, a cubin of tilec with its PTX, or a fat binary
// as nvcc embeds it, with its wrapper or without.
//
//   wrapper     magic 0x466243b1, version, address of the fat binary
//   fat binary  magic 0xba55ed50, version, bytes of this header, bytes of all entries; then entries
//   entry       kind (1: PTX, 2: ELF), version, bytes of this header, bytes of the contents, …, architecture, flags
//   (zstd,
//               LZ4), decompressed bytes; then the contents
//
// The format is not documented; cuobjdump and other readers of it agree on these fields.
#pragma once

#include "Runtime/Result.h"

#include <string>

namespace tile::sim {

/// Returns the PTX of an image. If there are several, returns the one for the highest architecture up to `capability`
/// (100: 10.0), or the highest of all if none is that low.
runtime::Result<std::string> findPtx(const void *image, unsigned capability);

/// Decompresses a block of LZ4 to `bytes` bytes.
runtime::Result<std::string> decompressLz4(std::string_view block, size_t bytes);

} // namespace tile::sim
