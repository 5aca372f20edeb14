// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor memory: 128 lanes of 512 columns of 32 bits per CTA, and the operations in flight in it. PTX ISA 9.7.16.1.
//
//   address of tcgen05 instructions   lane << 16 | column
//   Range::address (Space::Tensor)    column * 512 + lane * 4 bytes: the lanes of a column are adjacent, because
//                                     nearly all instructions access many lanes
//
// On a GPU, CTAs on the same multiprocessor share the columns; here each CTA has all of them.
#pragma once

#include "Simulator/Machine/Access.h"
#include "Simulator/Machine/AsyncOperation.h"

#include <optional>

namespace tile::sim {

class Cta;

constexpr unsigned tensorLanes = 128;
constexpr unsigned tensorColumns = 512;
/// The number of lanes that a warp accesses: those from 32 * (warp index modulo 4) on.
constexpr unsigned tensorLanesOfWarp = 32;

struct TensorAddress {
  unsigned lane = 0, column = 0;
  static TensorAddress of(uint32_t bits) { return {bits >> 16, bits & 0xffff}; }
};

class TensorMemory {
public:
  struct Allocation {
    unsigned column = 0, columns = 0;
    unsigned warp = 0; ///< the warp that allocated them
    SourceLoc loc;
  };

  /// Returns the first range of adjacent free columns, which are also free in `other`; nullopt if there is none.
  std::optional<unsigned> allocate(unsigned columns, unsigned warp, const SourceLoc &loc,
                                   const TensorMemory *other = nullptr);
  /// Allocates the given columns, which must be free.
  void take(unsigned column, unsigned columns, unsigned warp, const SourceLoc &loc);
  /// Returns the allocation that begins at the column, or null.
  const Allocation *find(unsigned column) const;
  void free(unsigned column);
  bool isAllocated(unsigned column) const { return column < tensorColumns && owned[column]; }
  const std::vector<Allocation> &allocations() const { return all; }

  uint32_t &at(unsigned lane, unsigned column) { return cells[column * tensorLanes + lane]; }

  bool mayAllocate = true; ///< false after relinquish_alloc_permit
  /// The state of an allocation by a pair of CTAs: the number of columns that this CTA requests (0: none), the
  /// requesting warp, and the first column once the other CTA has found one.
  unsigned requested = 0, requestedBy = 0;
  std::optional<unsigned> granted;

private:
  std::vector<uint32_t> cells; ///< empty until the first allocation
  std::vector<Allocation> all;
  std::vector<bool> owned = std::vector<bool>(tensorColumns);
};

/// The operations that one thread has issued to the tensor core (mma, cp, shift, commit). They are executed in order,
/// at any time.
struct TensorPipe {
  Component component = noComponent; ///< counts commits
  uint32_t commits = 0;
  std::deque<AsyncOperation *> queue; ///< issued but not finished

  /// The accumulator, in the tensor memory of one CTA, of an MMA that has not been waited for.
  struct Accumulator {
    const Cta *cta = nullptr;
    unsigned lane = 0, column = 0, columns = 0;
    unsigned m = 0, n = 0;
    uint32_t commit = 0; ///< the epoch of the commit that will cover the MMA
    SourceLoc loc;
  };
  std::vector<Accumulator> accumulators;
};

} // namespace tile::sim
