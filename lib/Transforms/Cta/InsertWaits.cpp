// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-insert-waits: insert waits for asynchronous operations where they must be complete.
//
// Inserts a wait before each operation that has the token of a wgmma as an operand. The token identifies the wgmma that
// must be complete. The number of later wgmmas that may stay in flight depends on the issue order, so this pass runs
// after all scheduling (Analysis/SharedMemory/PendingWgmmas.h):
//
//   for (%o, %previous) {                       for (%o, %previous) {
//     %s, %t = cta.wgmma …                        %s, %t = cta.wgmma …
//     cta.ring_release %r[%x] after %previous     cta.wgmma_wait {pending = 1}
//     …                                    ==>    cta.ring_release %r[%x] after %previous
//
// Inserts waits for TMA stores before anything that depends on them is read, passed on or overwritten
// (Transforms/Cta/PendingStores.h).
#include "Analysis/SharedMemory/PendingWgmmas.h"
#include "Transforms/Cta/PendingStores.h"
#include "Transforms/Passes.h"

#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_CTAINSERTWAITS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct CtaInsertWaits : tile::impl::CtaInsertWaitsBase<CtaInsertWaits> {
  void runOnKernel() override {
    for (auto [op, pending] : findMissingWaits(getOperation())) {
      OpBuilder builder(op);
      cta::WgmmaWaitOp::create(builder, op->getLoc(), pending);
    }
    for (auto [op, forAllThreads] : findMissingStoreWaits(getOperation())) {
      OpBuilder builder(op);
      cta::TmaStoreWaitOp::create(builder, op->getLoc(), /*pending=*/0, /*written=*/true);
      if (forAllThreads && !isa<BarrierOp>(op))
        BarrierOp::create(builder, op->getLoc());
    }
  }
};

} // namespace
