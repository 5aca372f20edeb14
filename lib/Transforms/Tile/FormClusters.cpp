// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-form-clusters: let the CTAs of a cluster run neighbouring programs.
//
// Applies to a persistent kernel whose `cluster` is M x N x 1. Its work is distributed in groups of M x N programs.
// Within a group, each CTA computes the program with the index of its rank, so neighbouring CTAs read the same rows or
// columns at the same time:
//
//   tile.programs … #tile.work<order = grid> { body }
//   ==>
//   tile.programs (…, %exists) … #tile.work<order = grid, cluster = [2, 1]> { loads; scf.if %exists { remainder } }
//
// All CTAs of a cluster must execute all loads together, so groups at the edge of the grid contain programs that do not
// exist. Their loads through tensor maps are harmless; all their other memory accesses are predicated off.
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile {
#define GEN_PASS_DEF_TILEFORMCLUSTERS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Returns true if the operation must not be executed for a program outside the grid: it may access memory, trap, or
/// not terminate.
bool isForExistingPrograms(Operation *op) {
  return op
      ->walk([](Operation *nested) {
        bool isControl = nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
        bool isHarmless = isControl || isa<DescLoadOp, AssumeOp>(nested) || isMemoryEffectFree(nested);
        return isHarmless && !isa<scf::WhileOp>(nested) ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

/// Returns the first operation that must not be executed for programs outside the grid, or null.
Operation *findTail(ProgramsOp programs) {
  for (Operation &op : programs.getBody().front().without_terminator())
    if (isForExistingPrograms(&op))
      return &op;
  return nullptr;
}

/// Removes assumptions, which need not hold for programs outside the grid.
void dropAssumptions(ProgramsOp programs) {
  SmallVector<AssumeOp> assumptions;
  programs.walk([&](AssumeOp op) { assumptions.push_back(op); });
  for (AssumeOp op : assumptions)
    op.erase();
}

void guard(ProgramsOp programs, Operation *tail) {
  OpBuilder builder(tail);
  auto guard = scf::IfOp::create(builder, programs.getLoc(), programs.getExists(), /*withElseRegion=*/false);
  Operation *end = programs.getBody().front().getTerminator();
  for (Operation *op = tail; op != end;) {
    Operation *next = op->getNextNode();
    op->moveBefore(guard.thenBlock()->getTerminator());
    op = next;
  }
}

struct TileFormClusters : tile::impl::TileFormClustersBase<TileFormClusters> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    std::optional<ArrayRef<int32_t>> shape = kernel.getCluster();
    // cta-share-steps handles clusters along k, which do not combine neighbouring programs.
    if (!shape || (*shape)[0] * (*shape)[1] == 1 || (*shape)[2] != 1)
      return;
    if (!gpu.has(target::Feature::Clusters))
      return refuse("the target has no clusters");
    ProgramsOp programs = kernel.getPrograms();
    if (!programs)
      return refuse("the kernel is not persistent, because it loads no dot operands by TMA");
    // The maps of different CTAs are separate, so no load could be shared.
    if (kernel.walk([](MakeDescOp desc) { return WalkResult::interrupt(); }).wasInterrupted())
      return refuse("the kernel encodes its own tensor maps");
    Operation *tail = findTail(programs);
    for (Operation *op = tail; op; op = op->getNextNode())
      if (op->walk([](DescLoadOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return refuse("programs access memory through pointers, or run a while loop, before their last block load");
    dropAssumptions(programs);
    if (tail)
      guard(programs, tail);
    programs.setWorkAttr(programs.getWork().withCluster((*shape)[0], (*shape)[1]));
    kernel.setClusterCtas((*shape)[0] * (*shape)[1]);
  }

private:
  void refuse(StringRef reason) { getOperation().emitRemark() << "no clusters: " << reason; }
};

} // namespace
