// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Removes redundant work of warps. For example, one warp suffices for a scan of 64 elements, but all warps of a CTA
// execute it although only one of them writes the result. Warps after the last one that writes are not launched:
//
//   tile.kernel … num_warps = 4            tile.kernel … num_warps = 1
//     %s = tile.scan …             ==>       %s = tile.scan …
//     tile.store %p, %s                      tile.store %p, %s
//
// This requires that warps neither synchronize nor share memory; otherwise they would deadlock, or miss data written
// for them. In all other kernels, only the first warp executes expensive scalar computations whose result is used by a
// store only, such as the logarithm of a row's sum:
//
//   %l = math.log %sum                     scf.if (tid.x & 96) == 0 {
//   tile.store %p, %l : !tile.ptr<f32>     ==>  %l = math.log %sum; tile.store %p, %l
//                                          }
#include "EmitLayout.h"
#include "Patterns.h"

#include "Target/Tuned.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tile::conversion {

/// Returns the bits of tid.x that index warps.
static uint64_t warpBits(KernelOp kernel) {
  return uint64_t(kernel.getNumWarps() - 1) << layout::laneBits;
}

/// Returns the warp bits of tid.x that are zero in all threads whose writes matter.
static uint64_t findIdleWarpBits(KernelOp kernel) {
  bool isPlain = !cta::findRoles(kernel) && kernel.getClusterCtas() <= 1;
  uint64_t idle = isPlain ? warpBits(kernel) : 0;
  kernel.getBody().walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    auto store = dyn_cast<StoreOp>(op);
    if ((load && !load.getIsVolatile()) || isa<AssumeOp>(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
        op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op))
      return;
    if (!store)
      idle = 0;
    else if (isa<RankedTensorType>(store.getPtr().getType())) // only the first thread writes a scalar
      idle &= redundantThreadBits(cta::getLayout(store.getPtr().getType()));
  });
  return idle;
}

static bool isScalarStore(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  return store && !isa<RankedTensorType>(store.getPtr().getType());
}

/// Returns the operations of the scalar computation that is used only by `stores`, followed by the stores, in the order
/// of the block. The stores are in one block without side effects between them.
static SmallVector<Operation *> findOwnWork(ArrayRef<Operation *> stores) {
  llvm::SmallSetVector<Operation *, 16> work(stores.begin(), stores.end());
  // Users come after their operands, so a single backward walk finds all operations.
  for (Operation *op = stores.back()->getPrevNode(); op; op = op->getPrevNode()) {
    bool isNumber = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) && op->getNumResults() > 0 &&
                    !isa<RankedTensorType>(op->getResult(0).getType());
    if (isNumber && isMemoryEffectFree(op) && !op->use_empty() &&
        llvm::all_of(op->getUsers(), [&](Operation *user) { return work.contains(user); }))
      work.insert(op);
  }
  SmallVector<Operation *> ordered = work.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ordered;
}

/// Returns true if the work takes longer than a branch around it: an elementary function takes up to 30 instructions.
static bool isExpensive(ArrayRef<Operation *> work) {
  if (work.empty())
    return false;
  const target::Tuned &tuned = target::tunedOf(cta::getTarget(work.front()));
  unsigned instructions = 0;
  for (Operation *op : work) {
    bool isElementary = isa<math::MathDialect>(op->getDialect()) || isa<arith::DivFOp>(op);
    instructions += isElementary ? tuned.elementaryInstructions : 1;
  }
  return instructions > tuned.idleWorkInstructions;
}

static void leaveToFirstWarp(ArrayRef<Operation *> stores, uint64_t idle) {
  SmallVector<Operation *> work = findOwnWork(stores);
  if (!isExpensive(work))
    return;
  OpBuilder builder(stores.back());
  Location loc = stores.back()->getLoc();
  auto branch = scf::IfOp::create(builder, loc, emitBitsAreZero(builder, loc, idle), /*withElseRegion=*/false);
  for (Operation *op : work)
    op->moveBefore(branch.thenYield());
}

/// Lets only the first warp compute and store scalars. Stores without side effects between them share a branch.
static void leaveScalarsToFirstWarp(KernelOp kernel) {
  uint64_t idle = warpBits(kernel);
  if (idle == 0 || cta::findRoles(kernel))
    return;
  SmallVector<SmallVector<Operation *>> groups;
  kernel.getBody().walk([&](Block *block) {
    bool continues = false;
    for (Operation &op : *block) {
      if (isScalarStore(&op)) {
        if (!continues)
          groups.emplace_back();
        groups.back().push_back(&op);
        continues = true;
      } else if (!isMemoryEffectFree(&op)) {
        continues = false;
      }
    }
  });
  for (ArrayRef<Operation *> stores : groups)
    leaveToFirstWarp(stores, idle);
}

void leaveIdleWarps(KernelOp kernel) {
  if (uint64_t idle = findIdleWarpBits(kernel))
    kernel.setNumWarps(llvm::bit_ceil(((warpBits(kernel) & ~idle) >> layout::laneBits) + 1));
  leaveScalarsToFirstWarp(kernel);
}

} // namespace tile::conversion
