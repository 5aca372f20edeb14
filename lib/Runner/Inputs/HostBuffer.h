// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The array of a pointer argument in host memory.
//
//   storage  [guard 64 KiB (and the offset)][ physical elements ][guard 64 KiB]
//   logical element (i, j) is at physical element i*stride0 + j*stride1; elements in between are gaps
//
// Guards and gaps contain a pattern that a kernel must not change. Outputs are poisoned, too (with a NaN that no
// operation produces, or 0xCD for integers), so an element that the kernel fails to write cannot pass a check.
//
// Large gaps (for example, if strides exceed 2^31 elements) are zeros, which occupy no memory until a kernel writes to
// them.
#pragma once

#include "Runtime/Manifest.h"

#include <functional>
#include <memory>
#include <span>

namespace tile::runner {

using runtime::DataType;
using runtime::Error;
using runtime::Result;
using runtime::Status;

struct BufferLayout {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides; ///< in elements
  int64_t elements = 0;         ///< the product of the sizes
  int64_t physicalElements = 0; ///< 1 + the largest offset; 0 for an empty array

  bool hasGaps() const { return physicalElements > elements; }
  /// Returns the offsets of the logical elements in ascending order.
  std::vector<int64_t> sortedOffsets() const;
};

/// Checks shape and strides; empty strides mean row-major and contiguous. If `isWritten`, elements must not share
/// memory.
Result<BufferLayout> planBuffer(std::vector<int64_t> shape, std::vector<int64_t> strides, unsigned elementSize,
                                bool isWritten);

struct FreeMemory {
  size_t mappedBytes = 0; ///< 0: memory from the heap
  void operator()(uint8_t *pointer) const;
};

class HostBuffer {
public:
  static constexpr size_t guardBytes = 64 * 1024;
  static constexpr uint8_t guardPattern = 0xCD;

  /// Creates a buffer; fails if there is not enough memory. The buffers of one kernel have different guard patterns, so
  /// a kernel that copies the guard of one buffer to that of another is detected. The first element is `offset`
  /// elements after an aligned address.
  static Result<HostBuffer> create(DataType type, BufferLayout layout, uint8_t guard = guardPattern,
                                   int64_t offset = 0);
  HostBuffer() = default;
  HostBuffer(HostBuffer &&) = default;
  HostBuffer &operator=(HostBuffer &&) = default;
  Result<HostBuffer> clone() const;

  DataType type() const { return elementType; }
  const BufferLayout &layout() const { return elementLayout; }

  /// Returns the address of the first element. Without an offset it is aligned to 256 bytes, like device allocations.
  uint8_t *data() { return memory.get() + frontBytes(); }
  const uint8_t *data() const { return memory.get() + frontBytes(); }
  size_t dataBytes() const;
  size_t offsetBytes() const { return elementOffset * runtime::dataTypeSize(elementType); }
  /// Returns the number of bytes between the start of the storage and the first element.
  size_t frontBytes() const { return guardBytes + offsetBytes(); }
  /// Returns the storage, including guards.
  std::span<uint8_t> storage() { return {memory.get(), storageBytes()}; }
  std::span<const uint8_t> storage() const { return {memory.get(), storageBytes()}; }
  size_t storageBytes() const { return frontBytes() + dataBytes() + guardBytes; }

  /// Returns true if the gaps are untouched pages of zeros.
  bool isSparse() const { return memory.get_deleter().mappedBytes > 0; }

  /// Fills every physical element with the poison value of the type; in a sparse buffer, only the logical elements.
  void poison();
  /// Returns true if the element has not been written since it was poisoned.
  bool isPoison(const std::vector<int64_t> &index) const;
  void fill(double value);
  /// Fills the buffer with standard-normal floats or small integers. Element i depends only on (seed, i), and not on
  /// strides or the number of threads.
  void fillRandom(uint64_t seed);
  /// Sets element i, in row-major order, to valueOf(i). Several threads call `valueOf`.
  void fillEach(const std::function<double(uint64_t)> &valueOf);
  /// Import and export the elements in row-major order.
  void importDense(const uint8_t *dense);
  std::vector<uint8_t> exportDense() const;

private:
  Status allocate();
  /// Calls body(linear index, physical index) for each linear index in a range.
  template <typename Body> void forRange(int64_t begin, int64_t end, Body body) const;

  DataType elementType = DataType::F32;
  BufferLayout elementLayout;
  size_t elementOffset = 0;
  std::unique_ptr<uint8_t, FreeMemory> memory;
};

/// The target of the addresses in a table.
struct TableTarget {
  size_t parameter = 0;   ///< the index of a buffer's parameter
  bool isOfPeers = false; ///< element i is the address of the buffer of rank i
};

/// Adds an address to each 64-bit element of a table of addresses. The addition wraps around, so the address can be
/// subtracted again.
void addAddress(HostBuffer &table, uint64_t address);
/// Does the same with a separate address for each element.
void addAddresses(HostBuffer &table, const std::function<uint64_t(size_t element)> &addressOf);

/// Detects changes to bytes that a kernel must not change: guards, gaps and, if `isInput`, the elements themselves.
/// Returns a description of the first change ("2 bytes before the buffer ..."), or nullopt if there is none.
std::optional<std::string> findDamage(const HostBuffer &before, const HostBuffer &after, bool isInput);

} // namespace tile::runner
