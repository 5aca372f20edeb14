// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds PTX in an image that a program passes to the driver: PTX text, a cubin of tilec that contains PTX, or a fat
// binary as nvcc embeds it, with or without its wrapper.
//
//   wrapper     magic 0x466243b1, version, address of the fat binary
//   fat binary  magic 0xba55ed50, version, size of this header, size of all entries; then the entries
//   entry       kind (1: PTX, 2: ELF), version, size of this header, size of the contents, …, architecture,
//               flags (zstd, LZ4), decompressed size; then the contents
//
// The format is not documented, but cuobjdump and other readers agree on these fields.
#pragma once

#include "Runtime/Result.h"

#include <string>

namespace tile::sim {

/// Returns the PTX of an image. If there are several PTX entries, returns the one for the highest architecture up to
/// `capability` (100 means 10.0), or the one for the highest architecture if all of them are above it.
runtime::Result<std::string> findPtx(const void *image, unsigned capability);

/// Decompresses an LZ4 block to `bytes` bytes.
runtime::Result<std::string> decompressLz4(std::string_view block, size_t bytes);

} // namespace tile::sim
