// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies the operations of a loop, except for arithmetic; passes use the classes to distinguish loops.
//
//   scf.for … {
//     %x = tile.load %p             load
//     %s = tile.reduce %x …         reduction
//     scf.if %c { tile.store … }    branch, store
//   }
//
// The classification covers operations in branches and inner loops. It ignores arithmetic, address computation and
// shape changes, because these occur in every loop.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <bitset>
#include <initializer_list>
#include <string>

namespace tile {

enum class LoopContent {
  load,      ///< Loads from global memory, not volatile.
  store,     ///< Stores to global memory.
  branch,    ///< scf.if
  innerLoop, ///< A loop nested in this one.
  reduction, ///< Reductions and scans: threads wait for each other.
  exchange,  ///< Gathers and histograms.
  groupMma,  ///< MMAs of warp groups (cta.wgmma).
  warpMma,   ///< MMAs of warps (cta.mma_sync).
  threadDot, ///< Dots of threads (cta.fma_dot).
  tmaCopy,   ///< A TMA copy that is awaited immediately.
  asyncCopy, ///< A copy by cp.async.
  blockRead, ///< Reads of blocks in shared memory and their prerequisites: allocations, loads, awaited MMAs.
  other,     ///< Other operations with effects, which keep their order.
};

class LoopContents {
public:
  static LoopContents of(mlir::scf::ForOp loop);

  bool has(LoopContent content) const { return found[unsigned(content)]; }
  bool hasAny(std::initializer_list<LoopContent> contents) const;
  /// Returns true if everything that the loop contains is among `contents`.
  bool hasOnly(std::initializer_list<LoopContent> contents) const;

  /// Returns "load, branch, store" in the order of the enumeration, or "nothing".
  std::string print() const;

private:
  static constexpr unsigned count = unsigned(LoopContent::other) + 1;
  using Found = std::bitset<count>;
  static Found of(std::initializer_list<LoopContent> contents);

  Found found;
};

} // namespace tile
