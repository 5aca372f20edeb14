// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a loop does beside arithmetic: by which passes on loops tell one from another.
//
//   scf.for … {
//     %x = tile.load %p             load
//     %s = tile.reduce %x …         reduction
//     scf.if %c { tile.store … }    branch, store
//   }
//
// It counts what stands in branches and inner loops, too. Arithmetic, address computation and changes of shape are in
// every loop.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <bitset>
#include <initializer_list>
#include <string>

namespace tile {

enum class LoopContent {
  load,          ///< Of global memory, not volatile.
  store,         ///< To global memory.
  branch,        ///< scf.if
  innerLoop,     ///< A loop in this one.
  reduction,     ///< Reductions and scans: threads wait for each other.
  exchange,      ///< Gathers and histograms.
  groupProduct,  ///< Of warp groups (cta.wgmma).
  warpProduct,   ///< Of warps (cta.mma_sync).
  threadProduct, ///< Of threads (cta.fma_dot).
  tmaCopy,       ///< A copy by TMA that is awaited at once.
  asyncCopy,     ///< A copy by cp.async.
  blockRead,     ///< What reads blocks in shared memory, and what they are there: allocations, loads, awaited products.
  other,         ///< What else has effects, and so keeps its order.
};

class LoopContents {
public:
  static LoopContents of(mlir::scf::ForOp loop);

  bool has(LoopContent content) const { return found[unsigned(content)]; }
  bool hasAny(std::initializer_list<LoopContent> contents) const;
  /// Whether there is nothing but some of these.
  bool hasOnly(std::initializer_list<LoopContent> contents) const;

  /// "load, branch, store" in the order of the enumeration; "nothing".
  std::string print() const;

private:
  static constexpr unsigned count = unsigned(LoopContent::other) + 1;
  using Found = std::bitset<count>;
  static Found of(std::initializer_list<LoopContent> contents);

  Found found;
};

} // namespace tile
