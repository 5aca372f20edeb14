// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Geometry of copies: the rows of a box in global memory, and the positions of their bytes in shared memory.
//
// A box is a sequence of rows of `rowBytes` bytes: elements that are consecutive in the innermost dimension. In shared
// memory the rows are consecutive; with a swizzle each row takes one span (32, 64 or 128 bytes), even if it is shorter
// (seen on an H200). A swizzle permutes the 16-byte chunks of a line by their address (PTX ISA 5.5.6, "Swizzling
// modes"). A linear copy is a box, too.
#pragma once

#include "Simulator/Exec/Async/TensorMap.h"

namespace tile::sim {

class BoxRows {
public:
  /// The part of a row that lies in the tensor. `bytes` 0: none.
  struct Row {
    int64_t offset = 0; ///< offset of its first byte from the base of the tensor
    uint32_t skip = 0;  ///< bytes of the row before it
    uint32_t bytes = 0;
  };

  /// Makes a box of `bytes` consecutive bytes, a multiple of 16.
  static BoxRows linear(uint32_t bytes);
  BoxRows(const TensorMap &map, const int32_t (&coordinates)[maxTensorDimensions]);
  /// Makes a box of four rows of a matrix, from column coordinates[0] on; the other coordinates are the rows.
  static BoxRows listed(const TensorMap &map, const int32_t (&coordinates)[maxTensorDimensions]);

  /// For stores: the 16-byte unit in which a row of the tensor ends is written completely.
  void endAtWholePieces();

  Row row(uint64_t index) const;
  uint64_t count() const { return rows; }
  uint32_t rowBytes() const { return bytes; }
  uint32_t totalBytes() const { return rows * bytes; }
  /// Bytes from row to row in shared memory, and of all rows there.
  uint32_t pitch() const { return sharedPitch; }
  uint32_t sharedBytes() const { return rows * sharedPitch; }
  /// Returns true if any element lies in the tensor; then `first` and `end` bound the offsets of those elements.
  bool bounds(int64_t &first, int64_t &end) const;

private:
  BoxRows() = default;
  uint64_t rows = 0;
  uint32_t bytes = 0;
  uint32_t sharedPitch = 0;
  bool isLinear = false;
  bool isListed = false; ///< row i has the position list[i] in dimension 1
  int32_t list[4] = {};
  unsigned rank = 1;
  uint32_t elementBytes = 1;
  int64_t start[maxTensorDimensions] = {};
  uint32_t counts[maxTensorDimensions] = {};
  uint32_t steps[maxTensorDimensions] = {};
  int64_t sizes[maxTensorDimensions] = {};
  int64_t strides[maxTensorDimensions] = {};
};

/// Returns the position of the byte of a shared address. Address bits 4, 5, 6 are XORed with bits 7, 8, 9.
inline uint32_t swizzled(uint32_t address, MapSwizzle swizzle) {
  constexpr uint32_t chunks[] = {0, 0x10, 0x30, 0x70};
  return address ^ (address >> 3 & chunks[uint8_t(swizzle)]);
}

/// Copies `bytes` (a multiple of 16, as `address` is) to or from shared memory; `base` is the host address of shared
/// address 0.
void writeSwizzled(std::byte *base, uint32_t address, MapSwizzle swizzle, const std::byte *from, uint32_t bytes);
void readSwizzled(const std::byte *base, uint32_t address, MapSwizzle swizzle, std::byte *to, uint32_t bytes);

/// The value of elements outside the tensor: zeros, or the NaN of all ones.
void fillOutside(const TensorMap &map, std::byte *to, uint32_t bytes);
/// Conversions applied by a load: subnormals are flushed to zero; f32 is rounded to tf32.
void convertLoaded(MapType type, std::byte *data, uint32_t bytes);

} // namespace tile::sim
