// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses and the bytes that they refer to.
//
//   generic address        space
//   0x0100_0000_0000 …     shared: window + 32-bit shared address
//   0x0200_0000_0000 …     local: window + offset in the thread's own local memory
//   0x0300_0000_0000 …     const and param: window + offset
//   0x1000_0000_0000 …     global: allocations with gaps between them, so that an access beyond the end is noticed
//
// A 32-bit shared address is rank << 24 | offset, with the rank in the cluster of the CTA whose memory it is (PTX ISA
// 5.1.6: the shared::cluster window contains shared::cta). Programs rely on it: CUTLASS clears bit 24 of the address of
// its own barrier to get that of the even CTA of a pair.
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
/// Shared memory begins after the kibibyte that the system reserves, as on sm_90: address 0 is never valid.
constexpr uint32_t sharedBase = 1024;

/// Returns true if `bytes` bytes at `offset` lie within `size` bytes; the computation cannot overflow.
constexpr bool isWithin(uint64_t offset, uint64_t bytes, uint64_t size) {
  return bytes <= size && offset <= size - bytes;
}

/// A buffer in global memory, a module's variable, or the module's constants.
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
  /// The caller keeps ownership of `host`. Returns the address: `offset` bytes after one that is aligned to `alignment`
  /// bytes (a power of two).
  uint64_t add(std::string name, std::byte *host, uint64_t size, uint64_t alignment = 256, bool initialized = true,
               uint64_t offset = 0);
  /// Removes the allocation at this address; the address is not reused.
  void remove(uint64_t address);
  /// Returns the allocation that holds the whole range, or null.
  const Allocation *find(uint64_t address, uint64_t bytes) const;
  /// "16 bytes past the end of x (4096 bytes)", for messages.
  std::string describe(uint64_t address) const;
  const std::vector<Allocation> &allocations() const { return all; }
  uint64_t end() const { return next; }

private:
  std::vector<Allocation> all; ///< by address
  uint64_t next = globalBase;
};

} // namespace tile::sim
