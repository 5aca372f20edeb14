// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bulk copies under way: what cp.async.bulk in all its forms starts. PTX ISA 9.7.9.25, 9.7.9.27.
//
//   instruction ──▶ checks, ranges to the checker ──▶ Transfer ──▶ rows, at moments that the schedule chooses ──▶
//   signal
//
// A copy into shared memory counts its bytes at an mbarrier beside them, part by part. A copy out of it, of a bulk
// group, first reads all its rows (wait_group.read) and then writes them (wait_group).
#pragma once

#include "Simulator/Exec/Async/BoxRows.h"
#include "Simulator/Exec/Async/MbarrierState.h"
#include "Simulator/Exec/Async/Reduce.h"

namespace tile::sim {

/// One side of a copy in shared memory.
struct SharedBox {
  Cta *cta = nullptr;
  uint32_t address = 0; ///< in that CTA
  MapSwizzle swizzle = MapSwizzle::None;
};

/// What the forms of the instruction have in common, when it is executed by one lane.
struct TransferPlan {
  Warp &warp;
  const Instruction &instruction;
  unsigned lane;
  BoxRows rows;
  /// The tensor, whose elements outside are filled and which may convert; null for linear copies.
  const TensorMap *map = nullptr;
  /// The rows in memory other than the box: host address of the byte at offset `baseOffset`, the first that a row has,
  /// and range for the checker.
  std::byte *base = nullptr;
  int64_t baseOffset = 0;
  Range baseRange = {};
  Reducer reducer = nullptr;
};

/// Sets base and baseRange for rows in global memory at `address`. False after a report: out of bounds.
bool resolveRows(TransferPlan &plan, uint64_t address);
/// The box in shared memory at a shared address. False after a report.
bool resolveBox(const TransferPlan &plan, uint64_t address, uint32_t alignment, SharedBox &box);

/// Tells the observer, if there is one, of a copy whose rows are in global memory.
void observeCopy(const TransferPlan &plan, bool toShared);

/// Starts the copy into `box`, which signals the barrier.
void startIntoShared(const TransferPlan &plan, const SharedBox &box, const BarrierRef &barrier);
/// Starts the copy out of `box`, in the open bulk group of the lane.
void startOutOfShared(const TransferPlan &plan, const SharedBox &box);

} // namespace tile::sim
