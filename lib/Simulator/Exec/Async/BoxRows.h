// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The geometry of copies: the rows of a box in global memory, and the positions of their bytes in shared memory.
//
// A box is a sequence of rows of `rowBytes` bytes. A row contains the elements that are consecutive in the innermost
// dimension. In shared memory the rows are consecutive; with a swizzle, each row takes one span (32, 64 or 128 bytes),
// even if it is shorter (observed on an H200). A swizzle permutes the 16-byte chunks of a line depending on their
// address (PTX ISA 5.5.6, "Swizzling modes"). A linear copy is a box, too.
#pragma once

#include "Simulator/Exec/Async/TensorMap.h"

namespace tile::sim {

class BoxRows {
public:
  /// The part of a row that lies in the tensor. If `bytes` is 0, no part does.
  struct Row {
    int64_t offset = 0; ///< offset of the part's first byte from the base of the tensor
    uint32_t skip = 0;  ///< number of bytes of the row before the part
    uint32_t bytes = 0;
  };

  /// Makes a box of `bytes` consecutive bytes; `bytes` must be a multiple of 16.
  static BoxRows linear(uint32_t bytes);
  BoxRows(const TensorMap &map, const int32_t (&coordinates)[maxTensorDimensions]);
  /// Makes a box of four rows of a matrix, from column coordinates[0] on. The other coordinates are the row indices.
  static BoxRows listed(const TensorMap &map, const int32_t (&coordinates)[maxTensorDimensions]);

  /// Makes a store write the whole 16-byte chunk in which a row of the tensor ends.
  void endAtWholePieces();

  Row row(uint64_t index) const;
  uint64_t count() const { return rows; }
  uint32_t rowBytes() const { return bytes; }
  uint32_t totalBytes() const { return rows * bytes; }
  /// Returns the distance from row to row in shared memory, in bytes; sharedBytes() is the size of all rows there.
  uint32_t pitch() const { return sharedPitch; }
  uint32_t sharedBytes() const { return rows * sharedPitch; }
  /// Returns true if any element lies in the tensor, and sets `first` and `end` to the bounds of the offsets of the
  /// elements that do.
  bool bounds(int64_t &first, int64_t &end) const;

private:
  BoxRows() = default;
  uint64_t rows = 0;
  uint32_t bytes = 0;
  uint32_t sharedPitch = 0;
  bool isLinear = false;
  bool isListed = false; ///< row i is at position list[i] in dimension 1
  int32_t list[4] = {};
  unsigned rank = 1;
  uint32_t elementBytes = 1;
  int64_t start[maxTensorDimensions] = {};
  uint32_t counts[maxTensorDimensions] = {};
  uint32_t steps[maxTensorDimensions] = {};
  int64_t sizes[maxTensorDimensions] = {};
  int64_t strides[maxTensorDimensions] = {};
};

/// Returns the swizzled position of the byte at a shared address. Address bits 4, 5, 6 are XORed with bits 7, 8, 9.
inline uint32_t swizzled(uint32_t address, MapSwizzle swizzle) {
  constexpr uint32_t chunks[] = {0, 0x10, 0x30, 0x70};
  return address ^ (address >> 3 & chunks[uint8_t(swizzle)]);
}

/// Copies `bytes` bytes to or from shared memory. `bytes` and `address` must be multiples of 16; `base` is the host
/// address of shared address 0.
void writeSwizzled(std::byte *base, uint32_t address, MapSwizzle swizzle, const std::byte *from, uint32_t bytes);
void readSwizzled(const std::byte *base, uint32_t address, MapSwizzle swizzle, std::byte *to, uint32_t bytes);

/// Writes the value of elements outside the tensor: zeros, or a NaN.
void fillOutside(const TensorMap &map, std::byte *to, uint32_t bytes);
/// Applies the conversions of a load: flushes subnormals to zero, and rounds f32 to tf32.
void convertLoaded(MapType type, std::byte *data, uint32_t bytes);

} // namespace tile::sim
