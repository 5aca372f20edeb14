// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which part of a kernel a producer warp can do for the others: the TMA reads and the scalars that they need.
//
//   scf.for tile {                            needed: the loops, %m, %k, the copies
//     %m = …                                  not needed: the accumulator that the inner loop carries, the wgmma,
//     scf.for k iter_args(%acc) {                         the write of the result
//       tma_load_sync %d[%m, %k], %b
//       %acc' = wgmma %b …
//     }
//     desc_store …
//   }
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace tile {

/// Copies that stand in one block, with no others deeper inside between them, and are used there by the same
/// operations: they fill one slot of a ring together.
struct Channel {
  llvm::SmallVector<cta::TmaLoadSyncOp> loads;
  /// The last operation of the block that reads a buffer; a wgmma counts until their wait.
  mlir::Operation *lastUse = nullptr;
  llvm::SetVector<mlir::Value> tokens; ///< Of the block's products that read a buffer.

  mlir::Block *getBlock() const { return cta::TmaLoadSyncOp(loads.front())->getBlock(); }
  int64_t getBytesPerSlot() const;
  /// The loops and branches around the block, outermost first.
  llvm::SmallVector<mlir::Operation *> getPath() const;
  /// The loops of these.
  llvm::SmallVector<mlir::LoopLikeOpInterface> getLoops() const;
  /// Whether the next one copies the same blocks in a loop after this one's: one ring serves both.
  bool isContinuedBy(const Channel &next) const;
};

struct RolePlan {
  llvm::SmallVector<Channel> channels;
  /// Operations of the producer: the copies, what computes their coordinates, and the loops and branches around them.
  llvm::DenseSet<mlir::Operation *> producerOps;
  /// Of what loops carry and branches result in (CarriedValue), the first values of what the producer needs.
  llvm::DenseSet<mlir::Value> producerCarried;
};

/// None if there are no TMA reads, or if a producer cannot know by itself where they read and how often: it computes
/// scalars only. Nor may the kernel write to what the producer reads, by TMA or as a scalar: it runs ahead of the
/// writes. TMA reads of what is written outside of the deepest loops, as of `c` in `c = a * b + c`, are in no channel:
/// the consumer warps make them.
std::optional<RolePlan> planRoles(KernelOp kernel);

/// Registers of 32 bits that a tensor takes in a thread.
int64_t countRegisters(mlir::RankedTensorType type);
/// Of a tensor that has a layout, or one for a scalar.
int64_t countRegisters(mlir::Value value);

} // namespace tile
