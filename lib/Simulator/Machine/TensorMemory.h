// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor memory: 128 lanes of 512 columns of 32 bits per CTA, and the operations in flight in it. PTX ISA 9.7.16.1.
//
//   address of tcgen05 instructions   lane << 16 | column
//   Range::address (Space::Tensor)    column * 512 + lane * 4 bytes: the lanes of a column are neighbours, as nearly
//                                     all instructions access many lanes
//
// A real CTA shares the columns with the CTAs on the same multiprocessor; here each has all of them.
#pragma once

#include "Simulator/Machine/Access.h"
#include "Simulator/Machine/AsyncOperation.h"

#include <optional>

namespace tile::sim {

class Cta;

constexpr unsigned tensorLanes = 128;
constexpr unsigned tensorColumns = 512;
/// A warp accesses the 32 lanes given by its index modulo 4.
constexpr unsigned tensorLanesOfWarp = 32;

struct TensorAddress {
  unsigned lane = 0, column = 0;
  static TensorAddress of(uint32_t bits) { return {bits >> 16, bits & 0xffff}; }
};

class TensorMemory {
public:
  struct Allocation {
    unsigned column = 0, columns = 0;
    unsigned warp = 0; ///< the warp that has allocated them
    SourceLoc loc;
  };

  /// Returns the first free columns, which are also free in `other`; none if there are not enough adjacent ones.
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

  bool mayAllocate = true; ///< until relinquish_alloc_permit
  /// A pair's allocation in progress: the number of columns that this CTA requests (0: none), the requesting warp, and
  /// the first column, found by the other CTA.
  unsigned requested = 0, requestedBy = 0;
  std::optional<unsigned> granted;

private:
  std::vector<uint32_t> cells; ///< empty before the first allocation
  std::vector<Allocation> all;
  std::vector<bool> owned = std::vector<bool>(tensorColumns);
};

/// The operations that one thread has issued to the tensor core (mma, cp, shift, commit): executed in order, at any
/// time.
struct TensorPipe {
  Component component = noComponent; ///< counts commits
  uint32_t commits = 0;
  std::deque<AsyncOperation *> queue; ///< issued and not finished

  /// An MMA that has not been waited for: its accumulator in the tensor memory of one CTA.
  struct Accumulator {
    const Cta *cta = nullptr;
    unsigned lane = 0, column = 0, columns = 0;
    unsigned m = 0, n = 0;
    uint32_t commit = 0; ///< the epoch that will cover it
    SourceLoc loc;
  };
  std::vector<Accumulator> accumulators;
};

} // namespace tile::sim
