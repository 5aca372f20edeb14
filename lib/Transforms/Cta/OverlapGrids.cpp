// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-overlap-grids: let a grid start before the previous one has ended.
//
// If the launch allows it (programmatic dependent launch), a grid starts once every CTA of the previous grid has
// signalled or exited. Meanwhile barriers are initialized, tensor maps prefetched and the roles' common values
// computed. The roles first await the previous grid: it may not have written its results yet, and may still read data
// that this grid overwrites:
//
//   cta.warp_roles role <consumer> { body }                    role <producer> { copies }
//   ==>
//   cta.warp_roles role <consumer> { cta.await_grids; body }   role <producer> { cta.await_grids; copies;
//                                                                                cta.launch_dependents }
//
// In a launch that does not allow it, both operations return immediately.
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_CTAOVERLAPGRIDS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct CtaOverlapGrids : tile::impl::CtaOverlapGridsBase<CtaOverlapGrids> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    cta::WarpRolesOp roles = cta::findRoles(kernel);
    if (!gpu.has(target::Feature::GridDependency) || !roles)
      return;
    // Only the roles may access memory.
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (&op != roles && !isa<cta::AllocOp, cta::MbarrierAllocOp, cta::TmaPrefetchOp>(op) && !isMemoryEffectFree(&op))
        return;
    OpBuilder builder(&getContext());
    for (cta::Role role : roles.getAll()) {
      Block &body = role.getBody().front();
      builder.setInsertionPointToStart(&body);
      cta::AwaitGridsOp::create(builder, roles.getLoc());
      // At the end of a single-thread role, the last copies have been issued, so the next grid's first copies can
      // follow them.
      if (role.getAttr().getOneThread()) {
        builder.setInsertionPointToEnd(&body);
        cta::LaunchDependentsOp::create(builder, roles.getLoc());
      }
    }
  }
};

} // namespace
