// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warps of which nothing is needed end at once. A scan of 64 elements is one warp's work, which all of a CTA's warps
// do, of which one writes:
//
//   %s = tile.scan …                       scf.if (tid.x & 96) == 0 {
//   tile.store %p, %s              ==>       %s = tile.scan …
//                                            tile.store %p, %s     // by the first copies of elements, as before
//                                          }
//
// Only where warps neither meet nor share memory: they would wait, or miss what is written for them.
#include "EmitLayout.h"
#include "Patterns.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tile::conversion {

/// Bits of tid.x, those of warps, that are zero in all threads that write.
static uint64_t findIdleWarpBits(KernelOp kernel) {
  bool isPlain = !cta::findRoles(kernel) && kernel.getClusterCtas() <= 1;
  uint64_t idle = isPlain ? uint64_t(kernel.getNumWarps() - 1) << layout::laneBits : 0;
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

void leaveIdleWarps(KernelOp kernel) {
  uint64_t idle = findIdleWarpBits(kernel);
  if (idle == 0)
    return;
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> work(llvm::make_pointer_range(body.without_terminator()));
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Value works = emitBitsAreZero(builder, kernel.getLoc(), idle);
  auto branch = scf::IfOp::create(builder, kernel.getLoc(), works, /*withElseRegion=*/false);
  for (Operation *op : work)
    op->moveBefore(branch.thenYield());
}

} // namespace tile::conversion
