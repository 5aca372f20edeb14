// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-insert-waits: wait for products of warp groups where their tokens are named.
//
// Tokens say which product has to be complete; how many others may be in flight follows from the order in which they
// are issued, and so from all that has been scheduled (Analysis/PendingProducts.h):
//
//   for (%o, %previous) {                       for (%o, %previous) {
//     %s, %t = cta.wgmma …                        %s, %t = cta.wgmma …
//     cta.ring_release %r[%x] after %previous     cta.wgmma_wait {pending = 1}
//     …                                    ==>    cta.ring_release %r[%x] after %previous
#include "Analysis/PendingProducts.h"
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
  }
};

} // namespace
