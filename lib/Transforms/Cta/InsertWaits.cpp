// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-insert-waits: wait for what is asynchronous where it has to be complete.
//
// For products of warp groups where their tokens are named. Tokens say which product has to be complete; how many
// others may be in flight follows from the order in which they are issued, and so from all that has been scheduled
// (Analysis/PendingProducts.h):
//
//   for (%o, %previous) {                       for (%o, %previous) {
//     %s, %t = cta.wgmma …                        %s, %t = cta.wgmma …
//     cta.ring_release %r[%x] after %previous     cta.wgmma_wait {pending = 1}
//     …                                    ==>    cta.ring_release %r[%x] after %previous
//
// For stores by TMA before what depends on them is read, handed on or overwritten (Analysis/PendingStores.h).
#include "Analysis/PendingProducts.h"
#include "Analysis/PendingStores.h"
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
