// cta-split-steps: split the K steps of each program over the CTAs of a cluster.
//
// Of a persistent kernel whose `cluster` is 1 x 1 x N and whose programs accumulate by wgmma. Each CTA of a cluster
// does its part of the K steps; the first one gets the others' accumulators through distributed shared memory and
// finishes the program:
//
//   for p = CTA; p < T; p += CTAs { A; for k = 0 … S: acc += …; B(acc) }
//   ==>
//   for p = cluster; p < T; p += clusters {
//     A; for k = rank … S in steps of N: acc += …
//     sum = cluster_sum acc
//     if rank == 0 { B(sum) }
//   }
//
// For few programs of many steps. Unlike cta-stream-k this needs no global memory, no flags and no schedule, but all
// programs are split alike. Accumulators are added in the order of ranks: the same result in each run.
#include "Analysis/FindTarget.h"
#include "Analysis/GemmPrograms.h"
#include "Cta/CtaDialect.h"
#include "Layout/SharedLayouts.h"
#include "Target/GpuTarget.h"
#include "Transforms/Numbers.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {
#define GEN_PASS_DEF_CTASPLITSTEPS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// A slot for each sender, with a word for each register of each thread; null if there is no such buffer.
cta::BufferType planBuffer(RankedTensorType sum, int64_t senders) {
  const layout::LinearLayout &layout = cta::getLayout(sum);
  int64_t words = layout.numRegisters() * layout.numWarps() * target::threadsPerWarp;
  if (!llvm::isPowerOf2_64(words))
    return {};
  MLIRContext *context = sum.getContext();
  auto places = cta::LayoutAttr::get(context, layout::swizzledShared({words}, 4, {0}, /*swizzleBytes=*/0));
  return cta::BufferType::get(context, {words}, sum.getElementType(), places, senders);
}

/// What the kernel's buffers take when each copy of a step has two slots, at the least.
int64_t sharedBytesOf(KernelOp kernel, scf::ForOp steps) {
  constexpr int64_t alignment = 1024;
  int64_t bytes = alignment;
  kernel.walk(
      [&](cta::AllocOp alloc) { bytes += alloc.getType().getBytes() * (steps->isProperAncestor(alloc) ? 2 : 1); });
  return bytes;
}

class StepSplit {
public:
  StepSplit(KernelOp kernel, GemmPrograms plan, cta::BufferType buffer, int64_t ctas)
      : kernel(kernel), rewriter(kernel.getContext()), programs(plan.programs), steps(plan.steps), buffer(buffer),
        ctas(ctas), loc(plan.programs.getLoc()) {}

  void run() {
    allocate();
    rewriter.setInsertionPoint(programs);
    Numbers n(rewriter, loc);
    rank = cta::ClusterRankOp::create(rewriter, loc);
    auto loop = scf::ForOp::create(rewriter, loc, cta::ClusterIdOp::create(rewriter, loc), programs.getUpperBound(),
                                   cta::NumClustersOp::create(rewriter, loc), ValueRange{n.constant(0)});
    rewriter.mergeBlocks(programs.getBody(), loop.getBody(), loop.getInductionVar());
    rewriter.eraseOp(programs);
    narrowSteps();
    finish(loop);
    kernel.setClusterCtas(ctas);
  }

private:
  void allocate() {
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    memory = cta::AllocOp::create(rewriter, loc, buffer, /*offset=*/IntegerAttr());
    auto type = cta::MbarrierType::get(kernel.getContext(), /*slots=*/1);
    sent = cta::MbarrierAllocOp::create(rewriter, loc, type, /*arrivals=*/1, /*offset=*/IntegerAttr());
    taken = cta::MbarrierAllocOp::create(rewriter, loc, type, kernel.getNumWarps(), /*offset=*/IntegerAttr());
  }

  /// The CTAs take turns, so that they read neighbouring columns at the same time; some may have no step at all.
  void narrowSteps() {
    rewriter.setInsertionPoint(steps);
    Numbers n(rewriter, loc);
    Value step = steps.getStep();
    steps.setLowerBound(n.add(steps.getLowerBound(), n.mul(rank, step)));
    steps.setStep(n.mul(step, n.constant(ctas)));
  }

  void finish(scf::ForOp loop) {
    Operation *end = loop.getBody()->getTerminator();
    SmallVector<Operation *> after;
    for (Operation *op = steps->getNextNode(); op != end; op = op->getNextNode())
      after.push_back(op);
    rewriter.setInsertionPointAfter(steps);
    Numbers n(rewriter, loc);
    Value parity = loop.getRegionIterArg(0), own = steps.getResult(0);
    auto sum = cta::ClusterSumOp::create(rewriter, loc, own, memory, sent, taken, parity, ctas);
    rewriter.replaceAllUsesExcept(own, sum, sum);
    auto branch = scf::IfOp::create(rewriter, loc, n.equal(rank, n.constant(0)), /*withElseRegion=*/false);
    for (Operation *op : after)
      rewriter.moveOpBefore(op, branch.thenBlock()->getTerminator());
    rewriter.setInsertionPoint(end);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(end, n.flip(parity));
    rewriter.setInsertionPoint(kernel.getBody().front().getTerminator());
    cta::ClusterBarrierOp::create(rewriter, loc);
  }

  KernelOp kernel;
  IRRewriter rewriter;
  scf::ForOp programs, steps;
  cta::BufferType buffer;
  int64_t ctas;
  Location loc;
  Value rank, memory, sent, taken;
};

struct CtaSplitSteps : tile::impl::CtaSplitStepsBase<CtaSplitSteps> {
  using CtaSplitStepsBase::CtaSplitStepsBase;

  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget *gpu = findTargetOrEmitError(target, kernel);
    if (!gpu)
      return signalPassFailure();
    std::optional<ArrayRef<int32_t>> shape = kernel.getCluster();
    if (!shape || (*shape)[2] == 1)
      return;
    if (!gpu->has(target::Feature::Clusters))
      return refuse("the target has no clusters");
    if ((*shape)[0] * (*shape)[1] != 1)
      return refuse("its CTAs are for neighbouring programs, too");
    std::optional<GemmPrograms> plan = findGemmPrograms(kernel);
    if (!plan)
      return refuse("the programs of the kernel do more than accumulate by wgmma, or it is not persistent");
    for (Operation *op = plan->steps->getNextNode(); op; op = op->getNextNode())
      if (op->walk([](cta::TmaLoadSyncOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return refuse("a program reads blocks after its main loop");
    int64_t ctas = (*shape)[2];
    cta::BufferType buffer = planBuffer(plan->getSumType(), ctas - 1);
    if (!buffer || sharedBytesOf(kernel, plan->steps) + buffer.getBytes() > gpu->maxSharedPerCta)
      return refuse("the accumulators do not fit into shared memory");
    StepSplit(kernel, *plan, buffer, ctas).run();
  }

private:
  void refuse(StringRef reason) { getOperation().emitRemark() << "steps are not split in a cluster: " << reason; }
};

} // namespace
