// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix descriptor of wgmma: 64 bits that give the location of an operand in shared memory. PTX ISA 9.7.15.5.1.
//
//   bits 0-13 start address / 16    16-29 leading byte offset / 16    32-45 stride byte offset / 16
//   49-51 base offset               62-63 swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//
// Shared memory holds an operand in chunks of 16 bytes. Along depth (K-major) a chunk is 16 bytes of one line; along
// lines (MN-major, 16-bit elements only) it is one k of eight lines. Eight chunks of 16 bytes, or of a swizzle's width,
// are consecutive; the two byte offsets lead to the next eight and to the next chunk:
//
//                 K-major: line i, chunk c of depth        MN-major: chunk c of lines, k
//   no swizzle    (i%8)*16 + (i/8)*stride + c*leading      (k%8)*16 + (k/8)*leading + c*stride
//   W bytes       (i%8)*W  + (i/8)*stride + c*16           (k%8)*W  + (k/8)*stride + (c%(W/16))*16 + (c/(W/16))*leading
//
// and a swizzle then XORs bits 4 to 6 of the address with bits 7 to 9 (only the lower two or one of them for 64 and 32
// bytes).
#pragma once

#include <cstdint>

namespace tile::sim::matrix {

struct Descriptor {
  explicit Descriptor(uint64_t bits);
  /// Decodes a descriptor of tcgen05 (PTX ISA 9.7.16.4.1): bits 46-48 are 1, and bits 61-63 are the swizzle: 0 none, 1
  /// 128 bytes in chunks of 32, 2 128 bytes, 4 64 bytes, 6 32 bytes.
  static Descriptor ofTensor(uint64_t bits);

  /// Returns the address of the chunk in shared memory. K-major: `line` of all lines, `chunk` of the depth. MN-major:
  /// `line` is k.
  uint32_t chunkAddress(bool isLineMajor, unsigned line, unsigned chunk) const;

  bool operator==(const Descriptor &) const = default;

  uint32_t start, leading, stride; ///< bytes
  uint32_t swizzle;                ///< bytes; 16: none
  uint32_t baseOffset;
  bool hasWideChunks = false; ///< the swizzle moves chunks of 32 bytes; MN-major only
};

} // namespace tile::sim::matrix
