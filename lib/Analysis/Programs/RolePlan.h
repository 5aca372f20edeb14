// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the part of a kernel that a producer warp can execute for the other warps: the TMA loads, and the scalars from
// which their coordinates are computed.
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

/// Copies in one block that fill one slot of a ring together. The same operations of the block use all of them, and no
/// other copies are nested between them.
struct Channel {
  llvm::SmallVector<cta::TmaLoadSyncOp> loads;
  /// The last operation of the block that reads a buffer of the channel; a wgmma reads until it is awaited.
  mlir::Operation *lastUse = nullptr;
  llvm::SetVector<mlir::Value> tokens; ///< The tokens of the block's wgmmas that read a buffer of the channel.

  mlir::Block *getBlock() const { return cta::TmaLoadSyncOp(loads.front())->getBlock(); }
  int64_t getBytesPerSlot() const;
  /// Returns the loops and branches around the block, outermost first.
  llvm::SmallVector<mlir::Operation *> getPath() const;
  /// Returns the loops of getPath().
  llvm::SmallVector<mlir::LoopLikeOpInterface> getLoops() const;
  /// Returns true if `next` copies the same blocks in a loop after this channel's loop, so that one ring can serve both
  /// channels.
  bool isContinuedBy(const Channel &next) const;
};

struct RolePlan {
  llvm::SmallVector<Channel> channels;
  /// Operations of the producer: the copies, the computation of their coordinates, and the loops and branches around
  /// them.
  llvm::DenseSet<mlir::Operation *> producerOps;
  /// The first values (CarriedValue) of loop-carried values and branch results that the producer needs.
  llvm::DenseSet<mlir::Value> producerCarried;
};

/// Plans the roles. Returns nullopt if there are no TMA loads, or if a producer, which computes only scalars, cannot
/// compute the loads' coordinates and number of iterations by itself. The kernel also must not write to memory that the
/// producer reads, by TMA or as a scalar, because the producer runs ahead of the writes. TMA loads of such memory
/// outside the deepest loops, for example the load of `c` in `c = a * b + c`, belong to no channel: the consumer warps
/// execute them.
std::optional<RolePlan> planRoles(KernelOp kernel);

/// Returns the number of 32-bit registers per thread that a tensor occupies.
int64_t countRegisters(mlir::RankedTensorType type);
/// Returns the number of registers per thread of a tensor that has a layout; 1 for a scalar.
int64_t countRegisters(mlir::Value value);

} // namespace tile
