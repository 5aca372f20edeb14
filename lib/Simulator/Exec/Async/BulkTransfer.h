// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bulk copies in flight, which all forms of cp.async.bulk start. PTX ISA 9.7.9.25, 9.7.9.27.
//
//   instruction ──▶ checks, report to the checker ──▶ Transfer: moves rows when the schedule chooses ──▶ signal
//
// A copy into shared memory counts its bytes at an mbarrier, part by part. A copy out of shared memory belongs to a
// bulk group. It first reads all its rows (wait_group.read) and then writes them (wait_group).
#pragma once

#include "Simulator/Exec/Async/BoxRows.h"
#include "Simulator/Exec/Async/MbarrierState.h"
#include "Simulator/Exec/Async/Reduce.h"

namespace tile::sim {

/// The side of a copy that is in shared memory.
struct SharedBox {
  Cta *cta = nullptr;
  uint32_t address = 0; ///< address in that CTA
  MapSwizzle swizzle = MapSwizzle::None;
};

/// The common part of all forms of the instruction, as executed by one lane.
struct TransferPlan {
  Warp &warp;
  const Instruction &instruction;
  unsigned lane;
  BoxRows rows;
  /// The tensor map, which fills elements outside the tensor and may convert; null for linear copies.
  const TensorMap *map = nullptr;
  /// The rows in the other memory: `base` is the host address of the byte at offset `baseOffset`, the first byte of all
  /// rows, and `baseRange` is their range, for the checker.
  std::byte *base = nullptr;
  int64_t baseOffset = 0;
  Range baseRange = {};
  Reducer reducer = nullptr;
};

/// Sets base and baseRange for rows in global memory at `address`. Returns false after a report if they are out of
/// bounds.
bool resolveRows(TransferPlan &plan, uint64_t address);
/// Sets `box` to the box at a shared address. Returns false after a report.
bool resolveBox(const TransferPlan &plan, uint64_t address, uint32_t alignment, SharedBox &box);

/// Reports a copy whose rows are in global memory to the observer, if there is an observer.
void observeCopy(const TransferPlan &plan, bool toShared);

/// Starts the copy into `box`, which signals `barrier`.
void startIntoShared(const TransferPlan &plan, const SharedBox &box, const BarrierRef &barrier);
/// Starts the copy out of `box`, as a part of the lane's open bulk group.
void startOutOfShared(const TransferPlan &plan, const SharedBox &box);

} // namespace tile::sim
