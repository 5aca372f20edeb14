// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The matrix descriptor of wgmma: 64 bits that tell where an operand is in shared memory. PTX ISA 9.7.15.5.1.
//
//   bits 0-13 start address / 16    16-29 leading byte offset / 16    32-45 stride byte offset / 16
//   49-51 base offset               62-63 swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes
//
// An operand is stored in chunks of 16 bytes. If it is K-major, a chunk contains consecutive k of one line; if it is
// MN-major (16-bit elements only), a chunk contains eight lines of one k. Eight rows of 16 bytes, or of the swizzle's
// width, are consecutive; the two byte offsets lead to the next eight rows and to the next chunk:
//
//                 K-major: line i, chunk c of depth        MN-major: chunk c of lines, k
//   no swizzle    (i%8)*16 + (i/8)*stride + c*leading      (k%8)*16 + (k/8)*leading + c*stride
//   W bytes       (i%8)*W  + (i/8)*stride + c*16           (k%8)*W  + (k/8)*stride + (c%(W/16))*16 + (c/(W/16))*leading
//
// A swizzle then XORs bits 4 to 6 of the address with bits 7 to 9 (only the lowest two of these bits if the swizzle is
// 64 bytes wide, and only the lowest one if it is 32 bytes wide).
#pragma once

#include <cstdint>

namespace tile::sim::matrix {

struct Descriptor {
  explicit Descriptor(uint64_t bits);
  /// Decodes a descriptor of tcgen05 (PTX ISA 9.7.16.4.1). Bits 46-48 are 1, and bits 61-63 are the swizzle: 0 none, 1
  /// 128 bytes in chunks of 32, 2 128 bytes, 4 64 bytes, 6 32 bytes.
  static Descriptor ofTensor(uint64_t bits);

  /// Returns the address of a chunk in shared memory. K-major: `line` is an index of a line, `chunk` of a chunk along
  /// k. MN-major: `line` is k, and `chunk` an index of a chunk of lines.
  uint32_t chunkAddress(bool isLineMajor, unsigned line, unsigned chunk) const;

  bool operator==(const Descriptor &) const = default;

  uint32_t start, leading, stride; ///< in bytes
  uint32_t swizzle;                ///< in bytes; 16: none
  uint32_t baseOffset;
  bool hasWideChunks = false; ///< the swizzle moves chunks of 32 bytes; only for MN-major operands
};

} // namespace tile::sim::matrix
