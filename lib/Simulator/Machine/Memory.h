// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The address space: addresses and the bytes that they refer to.
//
//   generic address        space
//   0x0100_0000_0000 …     shared: window + 32-bit shared address
//   0x0200_0000_0000 …     local: window + offset in the thread's own local memory
//   0x0300_0000_0000 …     const and param: window + offset
//   0x1000_0000_0000 …     global: allocations with gaps between them, so that an access beyond the end is noticed
//
// A 32-bit shared address is rank << 24 | offset, where rank is the rank in the cluster of the CTA that owns the memory
// (PTX ISA 5.1.6: the shared::cluster window contains shared::cta). Programs rely on this layout: CUTLASS clears bit 24
// of the address of a CTA's barrier to get the address of the same barrier in the even CTA of the pair.
#pragma once

#include "Simulator/Ptx/Module.h"

#include <cstddef>
#include <span>

namespace tile::sim {

constexpr uint64_t sharedWindow = 0x0100'0000'0000;
constexpr uint64_t localWindow = 0x0200'0000'0000;
constexpr uint64_t paramWindow = 0x0300'0000'0000;
constexpr uint64_t windowSize = 0x0100'0000'0000;
constexpr uint64_t globalBase = 0x1000'0000'0000;
constexpr uint32_t sharedRankShift = 24;
constexpr uint32_t sharedOffsetMask = (1u << sharedRankShift) - 1;
/// Shared memory begins after the first KiB, which the system reserves on sm_90 too. Address 0 is never valid.
constexpr uint32_t sharedBase = 1024;

/// Returns true if `bytes` bytes at `offset` lie within `size` bytes. The computation cannot overflow.
constexpr bool isWithin(uint64_t offset, uint64_t bytes, uint64_t size) {
  return bytes <= size && offset <= size - bytes;
}

/// A buffer in global memory, a module's global variable, or the module's constants.
struct Allocation {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;
  std::byte *host = nullptr;
  bool initialized = true; ///< initialized before the kernel starts
  uint64_t end() const { return address + size; }
};

/// Global memory: the buffers that the host passes to the kernel.
class GlobalMemory {
public:
  /// Adds an allocation and returns its address: `offset` bytes after one that is aligned to `alignment` bytes (a power
  /// of two). The caller keeps ownership of `host`.
  uint64_t add(std::string name, std::byte *host, uint64_t size, uint64_t alignment = 256, bool initialized = true,
               uint64_t offset = 0);
  /// Removes the allocation at this address; the address is not reused.
  void remove(uint64_t address);
  /// Returns the allocation that contains the whole range, or null.
  const Allocation *find(uint64_t address, uint64_t bytes) const;
  /// Returns "16 bytes past the end of x (4096 bytes)", for messages.
  std::string describe(uint64_t address) const;
  const std::vector<Allocation> &allocations() const { return all; }
  uint64_t end() const { return next; }

private:
  std::vector<Allocation> all; ///< sorted by address
  uint64_t next = globalBase;
};

} // namespace tile::sim
