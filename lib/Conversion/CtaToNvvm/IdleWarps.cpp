// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warps leave out what only others write. A scan of 64 elements is one warp's work, which all of a CTA's warps do, of
// which one writes. Those behind the last one that writes are not launched:
//
//   tile.kernel … num_warps = 4            tile.kernel … num_warps = 1
//     %s = tile.scan …             ==>       %s = tile.scan …
//     tile.store %p, %s                      tile.store %p, %s
//
// Only where warps neither meet nor share memory: they would wait, or miss what is written for them. Everywhere else
// at least the numbers that a row has one of, as the logarithm of its sum, are the first warp's work:
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

/// Bits of tid.x that number warps.
static uint64_t warpBits(KernelOp kernel) {
  return uint64_t(kernel.getNumWarps() - 1) << layout::laneBits;
}

/// Bits of tid.x, those of warps, that are zero in all threads that write.
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
    else if (isa<RankedTensorType>(store.getPtr().getType())) // a scalar is written by the first thread
      idle &= redundantThreadBits(cta::getLayout(store.getPtr().getType()));
  });
  return idle;
}

static bool isScalarStore(Operation *op) {
  auto store = dyn_cast<StoreOp>(op);
  return store && !isa<RankedTensorType>(store.getPtr().getType());
}

/// What `stores`, of one block and without effects between them, need and nothing else does: numbers, each of which a
/// thread computes alone. With the stores, in the order of the block.
static SmallVector<Operation *> findOwnWork(ArrayRef<Operation *> stores) {
  llvm::SmallSetVector<Operation *, 16> work(stores.begin(), stores.end());
  // Users stand behind what they use, so that one walk back finds everything.
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

/// Whether a branch around them is worth its own instructions: an elementary function takes up to 30.
static bool isMuchWork(ArrayRef<Operation *> work) {
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
  if (!isMuchWork(work))
    return;
  OpBuilder builder(stores.back());
  Location loc = stores.back()->getLoc();
  auto branch = scf::IfOp::create(builder, loc, emitBitsAreZero(builder, loc, idle), /*withElseRegion=*/false);
  for (Operation *op : work)
    op->moveBefore(branch.thenYield());
}

/// Stores of numbers, those together between which nothing has effects.
static void leaveNumbersToFirstWarp(KernelOp kernel) {
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
  leaveNumbersToFirstWarp(kernel);
}

} // namespace tile::conversion
