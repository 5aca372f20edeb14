// cta-split-steps: split the K steps of each program over the CTAs of a cluster.
//
// Of a kernel whose `cluster` is 1 x 1 x N and whose programs add up products. Each CTA of a cluster adds up its part
// of the steps, and the first one gets the others' sums through distributed shared memory and finishes the program:
//
//   for p = CTA; p < T; p += CTAs { A; for k = 0 … S: acc += …; B(acc) }
//   ==>
//   for p = cluster; p < T; p += clusters {
//     A; for k = rank … S in steps of N: acc += …
//     sum = cluster_sum acc
//     if rank == 0 { B(sum) }
//   }
//
// A kernel that is not persistent has a cluster for each program; pointers that its loop advances begin at the CTA's
// first step.
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

/// What tensors take that threads may exchange through shared memory: those of a step, and the largest of the others.
int64_t exchangedBytesOf(KernelOp kernel, scf::ForOp steps) {
  int64_t inSteps = 0, largest = 0;
  kernel.walk([&](cta::ConvertLayoutOp convert) {
    auto type = cast<RankedTensorType>(convert.getType());
    int64_t bytes = type.getNumElements() * getBytesInMemory(type.getElementType());
    if (steps->isProperAncestor(convert))
      inSteps += bytes;
    largest = std::max(largest, bytes);
  });
  return std::max(inSteps, largest);
}

class StepSplit {
public:
  StepSplit(KernelOp kernel, scf::ForOp steps, unsigned accumulator, cta::BufferType buffer, int64_t ctas)
      : kernel(kernel), rewriter(kernel.getContext()), steps(steps), accumulator(accumulator), buffer(buffer),
        ctas(ctas), loc(steps.getLoc()) {}

  void runPersistent(scf::ForOp programs) {
    allocate();
    rewriter.setInsertionPoint(programs);
    Numbers n(rewriter, loc);
    auto loop = scf::ForOp::create(rewriter, loc, cta::ClusterIdOp::create(rewriter, loc), programs.getUpperBound(),
                                   cta::NumClustersOp::create(rewriter, loc), ValueRange{n.constant(0)});
    rewriter.mergeBlocks(programs.getBody(), loop.getBody(), loop.getInductionVar());
    rewriter.eraseOp(programs);
    narrowSteps();
    Value parity = loop.getRegionIterArg(0);
    Operation *end = loop.getBody()->getTerminator();
    finish(parity, end);
    rewriter.setInsertionPoint(end);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(end, n.flip(parity));
    meet();
  }

  /// False if what a loop adds to a pointer is not known before it.
  bool runOnce(ArrayRef<std::pair<unsigned, AddPtrOp>> advances) {
    rewriter.setInsertionPoint(steps);
    SmallVector<Value> offsets;
    for (auto [index, add] : advances)
      offsets.push_back(hoistOffset(add, steps, rewriter));
    if (llvm::is_contained(offsets, Value()))
      return false;
    allocate();
    for (auto [advance, offset] : llvm::zip_equal(advances, offsets))
      scaleAdvance(advance.first, advance.second, offset);
    narrowSteps();
    rewriter.setInsertionPoint(steps);
    finish(Numbers(rewriter, loc).constant(0), steps->getBlock()->getTerminator());
    numberByClusters();
    meet();
    return true;
  }

private:
  void allocate() {
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    memory = cta::AllocOp::create(rewriter, loc, buffer, /*offset=*/IntegerAttr());
    auto type = cta::MbarrierType::get(kernel.getContext(), /*slots=*/1);
    sent = cta::MbarrierAllocOp::create(rewriter, loc, type, /*arrivals=*/1, /*offset=*/IntegerAttr());
    taken = cta::MbarrierAllocOp::create(rewriter, loc, type, kernel.getNumWarps(), /*offset=*/IntegerAttr());
    rank = cta::ClusterRankOp::create(rewriter, loc);
  }

  /// The CTAs take turns, so that they read neighbouring columns at the same time; some may have no step at all.
  void narrowSteps() {
    rewriter.setInsertionPoint(steps);
    Numbers n(rewriter, loc);
    Value step = steps.getStep();
    steps.setLowerBound(n.add(steps.getLowerBound(), n.mul(rank, step)));
    steps.setStep(n.mul(step, n.constant(ctas)));
  }

  /// A pointer begins where the CTA's first step does, and goes on by as many steps as there are CTAs. In 64 bits: the
  /// program never adds up so much at once.
  void scaleAdvance(unsigned index, AddPtrOp add, Value offset) {
    rewriter.setInsertionPoint(steps);
    Type i64 = rewriter.getI64Type();
    if (offset.getType() != i64)
      offset = arith::ExtSIOp::create(rewriter, loc, i64, offset);
    auto times = [&](Value factor) -> Value {
      Value product = arith::MulIOp::create(rewriter, loc, offset, factor);
      auto pointers = dyn_cast<RankedTensorType>(add.getType());
      return pointers ? SplatOp::create(rewriter, loc, pointers.clone(i64), product) : product;
    };
    OpOperand &init = steps.getInitArgsMutable()[index];
    init.set(AddPtrOp::create(rewriter, loc, init.get(), times(arith::ExtSIOp::create(rewriter, loc, i64, rank))));
    Value all = times(arith::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(ctas)));
    rewriter.setInsertionPoint(add);
    rewriter.replaceOpWithNewOp<AddPtrOp>(add, add.getPtr(), all);
  }

  /// Everything from the steps to `end` is for the first CTA, which has the whole sum.
  void finish(Value parity, Operation *end) {
    SmallVector<Operation *> after;
    for (Operation *op = steps->getNextNode(); op != end; op = op->getNextNode())
      after.push_back(op);
    rewriter.setInsertionPointAfter(steps);
    Numbers n(rewriter, loc);
    Value own = steps.getResult(accumulator);
    auto sum = cta::ClusterSumOp::create(rewriter, loc, own, memory, sent, taken, parity, ctas);
    rewriter.replaceAllUsesExcept(own, sum, sum);
    auto branch = scf::IfOp::create(rewriter, loc, n.equal(rank, n.constant(0)), /*withElseRegion=*/false);
    for (Operation *op : after)
      rewriter.moveOpBefore(op, branch.thenBlock()->getTerminator());
  }

  /// A program is a cluster, and clusters lie along the first axis.
  void numberByClusters() {
    kernel.walk([&](Operation *op) {
      rewriter.setInsertionPoint(op);
      if (auto id = dyn_cast<ProgramIdOp>(op); id && id.getAxis() == 0)
        rewriter.replaceOpWithNewOp<cta::ClusterIdOp>(op);
      else if (auto number = dyn_cast<NumProgramsOp>(op); number && number.getAxis() == 0)
        rewriter.replaceOpWithNewOp<cta::NumClustersOp>(op);
    });
  }

  void meet() {
    rewriter.setInsertionPoint(kernel.getBody().front().getTerminator());
    cta::ClusterBarrierOp::create(rewriter, loc);
    kernel.setClusterCtas(ctas);
  }

  KernelOp kernel;
  IRRewriter rewriter;
  scf::ForOp steps;
  unsigned accumulator;
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
    if (isPersistent(kernel))
      splitPersistent(*gpu, (*shape)[2]);
    else
      splitOnce(*gpu, (*shape)[2]);
  }

private:
  void splitPersistent(const target::GpuTarget &gpu, int64_t ctas) {
    std::optional<GemmPrograms> plan = findGemmPrograms(getOperation());
    if (!plan)
      return refuse("the programs of the kernel do more than accumulate by wgmma");
    if (readsBlocks(plan->steps->getNextNode()))
      return refuse("a program reads blocks after its main loop");
    if (cta::BufferType buffer = findBuffer(gpu, plan->steps, plan->getSumType(), ctas))
      StepSplit(getOperation(), plan->steps, 0, buffer, ctas).runPersistent(plan->programs);
  }

  void splitOnce(const target::GpuTarget &gpu, int64_t ctas) {
    std::optional<MainLoop> plan = findMainLoop(getOperation());
    if (!plan)
      return refuse("the programs of the kernel do more than accumulate dots and advance pointers");
    if (readsBlocks(&getOperation().getBody().front().front()))
      return refuse("blocks are read by TMA, and the kernel is not persistent");
    auto type = cast<RankedTensorType>(plan->getAccumulator().getType());
    cta::BufferType buffer = findBuffer(gpu, plan->loop, type, ctas, exchangedBytesOf(getOperation(), plan->loop));
    if (buffer && !StepSplit(getOperation(), plan->loop, plan->accumulator, buffer, ctas).runOnce(plan->advances))
      refuse("what is added to a pointer in each step is not known before");
  }

  /// Whether TMA reads a block in one of the operations from `first` on.
  static bool readsBlocks(Operation *first) {
    for (Operation *op = first; op; op = op->getNextNode())
      if (op->walk([](cta::TmaLoadSyncOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return true;
    return false;
  }

  /// Null, with a remark, if there is no room beside `others` bytes.
  cta::BufferType findBuffer(const target::GpuTarget &gpu, scf::ForOp steps, RankedTensorType sum, int64_t ctas,
                             int64_t others = 0) {
    cta::BufferType buffer = planBuffer(sum, ctas - 1);
    if (!buffer || sharedBytesOf(getOperation(), steps) + others + buffer.getBytes() > gpu.maxSharedPerCta) {
      refuse("the accumulators do not fit into shared memory");
      return {};
    }
    return buffer;
  }

  void refuse(StringRef reason) { getOperation().emitRemark() << "steps are not split in a cluster: " << reason; }
};

} // namespace
