// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of a kernel that a producer warp can execute for the others: the TMA loads and the scalars that they need.
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

/// Copies in one block, without others nested between them, that the same operations use there: they fill one slot of a
/// ring together.
struct Channel {
  llvm::SmallVector<cta::TmaLoadSyncOp> loads;
  /// The last operation of the block that reads a buffer; a wgmma reads until its wait.
  mlir::Operation *lastUse = nullptr;
  llvm::SetVector<mlir::Value> tokens; ///< The tokens of the block's wgmmas that read a buffer.

  mlir::Block *getBlock() const { return cta::TmaLoadSyncOp(loads.front())->getBlock(); }
  int64_t getBytesPerSlot() const;
  /// Returns the loops and branches around the block, outermost first.
  llvm::SmallVector<mlir::Operation *> getPath() const;
  /// Returns the loops among these.
  llvm::SmallVector<mlir::LoopLikeOpInterface> getLoops() const;
  /// Returns true if `next` copies the same blocks in a loop after this one's, so that one ring can serve both.
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

/// Plans the roles. None if there are no TMA loads, or if a producer cannot compute by itself where they read and how
/// often: it computes scalars only. Nor may the kernel write to memory that the producer reads, by TMA or as a scalar,
/// because the producer runs ahead of the writes. TMA loads of such memory outside of the deepest loops, such as of `c`
/// in `c = a * b + c`, belong to no channel: the consumer warps execute them.
std::optional<RolePlan> planRoles(KernelOp kernel);

/// Registers per thread of each role.
struct RegisterBudget {
  unsigned consumer, producer;
};

/// PTX ISA, "setmaxnreg". A CTA starts with the same number for all threads; the consumer warps take the registers that
/// the producer gives up. None for one consumer warp group, which needs no more than it starts with.
std::optional<RegisterBudget> planRegisters(unsigned consumerWarps);

/// Registers of CTAs that share a multiprocessor, so that the MMAs of one overlap the computation of another.
struct SharedBudget {
  RegisterBudget registers;
  unsigned ctas; ///< CTAs that share a multiprocessor.
};

/// Returns budgets for `groups` consumer warp groups whose threads hold tensors, and an accumulator among them, of so
/// many registers: most CTAs first, and none if they take too many. Four warp groups on a multiprocessor hide each
/// other's MMA latency so well that none has to run ahead, which would leave their threads fewer registers besides the
/// tensors.
llvm::SmallVector<SharedBudget> planSharedRegisters(unsigned groups, int64_t registersOfTensors,
                                                    int64_t registersOfAccumulator);

/// Returns the number of 32-bit registers that a tensor takes per thread.
int64_t countRegisters(mlir::RankedTensorType type);
/// Returns the registers of a tensor that has a layout, or one for a scalar.
int64_t countRegisters(mlir::Value value);

/// Registers of a thread beside those of tensors: addresses, row maxima, what is computed element by element.
constexpr int64_t registersBesideTensors = 40;

/// Most registers of a thread for tensors where products run an iteration ahead. With 162 attention of 128 columns
/// spills in its loop, and takes 1.1 times as long as one product after another.
constexpr int64_t mostTensorsAhead = 160;

} // namespace tile
