// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-share-steps: decide which CTAs split the K steps of a program.
//
// If the kernel requests it, the CTAs of a cluster split all programs. Otherwise, idle CTAs split the programs of the
// last wave if the kernel determines at run time that this pays off (ShareTail.cpp).
//
// Split-K clusters require a kernel whose `cluster` is 1 x 1 x N and whose programs accumulate dots. Each CTA of a
// cluster accumulates its part of the steps, and the first one receives the others' accumulators through distributed
// shared memory and finishes the program:
//
//   tile.programs (…) { A; for k = 0 … S: acc += …; B(acc) }
//   ==>
//   tile.programs (…, %first) … #tile.work<…, split_k = N> {
//     A; for k = first … S in steps of N: acc += …
//     B(combine acc) }
//
// In a kernel that is not persistent, one cluster computes each program, and the kernel's body also becomes a
// tile.programs. Pointers that the loop advances begin at the CTA's first step.
//
// This pays off for few programs with many steps. Unlike stream-K it needs no global memory, no flags and no schedule,
// but it splits all programs in the same way. Accumulators are added in the order of ranks, so the result is
// deterministic.
#include "Analysis/Loops/LoopRange.h"
#include "Analysis/Programs/GemmPrograms.h"
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Target/SharedMemory.h"
#include "Transforms/Cta/LowerCombines.h"
#include "Transforms/Cta/ShareTail.h"
#include "Transforms/I32Arith.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {
#define GEN_PASS_DEF_CTASHARESTEPS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Returns a lower bound for the total size of the kernel's buffers: each copy of a step has at least two slots.
int64_t sharedBytesOf(KernelOp kernel, scf::ForOp steps) {
  int64_t bytes = target::sharedAlignment;
  kernel.walk(
      [&](cta::AllocOp alloc) { bytes += alloc.getType().getBytes() * (steps->isProperAncestor(alloc) ? 2 : 1); });
  return bytes;
}

/// Returns the size of the tensors that threads may exchange through shared memory at the same time: all tensors of a
/// step together, or the largest tensor, whichever is larger.
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

/// Distributes the steps to `ctas` CTAs round-robin, so that the CTAs read neighbouring columns at the same time. Some
/// CTAs may have no step at all.
void shareSteps(ProgramsOp programs, scf::ForOp steps, int64_t ctas) {
  programs.splitSteps(programs.getWork().withSplitK(ctas));
  programs->getParentOfType<KernelOp>().setClusterCtas(ctas);
  IRRewriter rewriter(steps);
  I32Arith n(rewriter, steps.getLoc());
  LoopRange all(rewriter, steps), own = all;
  own.lower = all.emitVariable(programs.getFirstStep());
  bool mayWrap = !all.isRepresentable(ctas - 1);
  Value upper = mayWrap ? own.emitIf(n.less(programs.getFirstStep(), all.emitCount())).upper : own.upper;
  steps.setLowerBound(own.lower);
  steps.setUpperBound(upper);
  steps.setStep(n.mul(all.step, n.constant(ctas)));
}

/// Returns true if the loop counts in 32 bits, and its step times `ctas` is a constant that fits into 32 bits.
bool canShareSteps(scf::ForOp steps, int64_t ctas) {
  APInt step;
  return steps.getInductionVar().getType().isInteger(32) && matchPattern(steps.getStep(), m_ConstantInt(&step)) &&
         step.isStrictlyPositive() && step.ule(std::numeric_limits<int32_t>::max() / ctas);
}

/// Wraps the kernel's body in a tile.programs, with one program per cluster; clusters are along the first axis.
ProgramsOp wrapInClusters(KernelOp kernel) {
  OpBuilder builder(kernel.getBody().front().getTerminator());
  Location loc = kernel.getLoc();
  SmallVector<Value> sizes{cta::NumClustersOp::create(builder, loc), NumProgramsOp::create(builder, loc, 1),
                           NumProgramsOp::create(builder, loc, 2)};
  return wrapPrograms(kernel, sizes,
                      WorkAttr::get(kernel.getContext(), WorkOrder::grid, /*group=*/1, /*persistent=*/false));
}

/// Makes a pointer begin at the CTA's first step and advance by as many steps as there are CTAs. The offsets are
/// computed in 64 bits, because they may overflow the type in which the program advances by one step.
void scaleAdvance(ProgramsOp programs, scf::ForOp steps, unsigned index, AddPtrOp add, Value offset, int64_t ctas) {
  IRRewriter rewriter(steps);
  Location loc = steps.getLoc();
  Type i64 = rewriter.getI64Type();
  if (offset.getType() != i64)
    offset = arith::ExtSIOp::create(rewriter, loc, i64, offset);
  auto times = [&](Value factor) -> Value {
    Value product = arith::MulIOp::create(rewriter, loc, offset, factor);
    auto pointers = dyn_cast<RankedTensorType>(add.getType());
    return pointers ? SplatOp::create(rewriter, loc, pointers.clone(i64), product) : product;
  };
  OpOperand &init = steps.getInitArgsMutable()[index];
  Value first = arith::ExtSIOp::create(rewriter, loc, i64, programs.getFirstStep());
  init.set(AddPtrOp::create(rewriter, loc, init.get(), times(first)));
  Value all = times(arith::ConstantOp::create(rewriter, loc, rewriter.getI64IntegerAttr(ctas)));
  rewriter.setInsertionPoint(add);
  rewriter.replaceOpWithNewOp<AddPtrOp>(add, add.getPtr(), all);
}

/// Splits the steps of a kernel that is not persistent. Returns false if the increment of a pointer is not known before
/// the loop.
bool splitProgram(KernelOp kernel, MainLoop plan, int64_t ctas) {
  IRRewriter rewriter(plan.loop);
  SmallVector<Value> offsets;
  for (auto [index, add] : plan.advances)
    offsets.push_back(hoistOffset(add, plan.loop, rewriter));
  if (llvm::is_contained(offsets, Value()))
    return false;
  ProgramsOp programs = wrapInClusters(kernel);
  shareSteps(programs, plan.loop, ctas);
  emitCombine(plan.getAccumulator(), /*columns=*/IntegerAttr(), rewriter);
  for (auto [advance, offset] : llvm::zip_equal(plan.advances, offsets))
    scaleAdvance(programs, plan.loop, advance.first, advance.second, offset, ctas);
  return true;
}

struct CtaShareSteps : tile::impl::CtaShareStepsBase<CtaShareSteps> {
  using CtaShareStepsBase::CtaShareStepsBase;

  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    if (clusters)
      shareInCluster(gpu);
    if (tail)
      shareTail(kernel);
  }

private:
  void shareInCluster(const target::GpuTarget &gpu) {
    KernelOp kernel = getOperation();
    std::optional<ArrayRef<int32_t>> shape = kernel.getCluster();
    if (!shape || (*shape)[2] == 1)
      return;
    if (!gpu.has(target::Feature::Clusters))
      return refuse("the target has no clusters");
    if ((*shape)[0] * (*shape)[1] != 1)
      return refuse("the cluster also combines neighbouring programs");
    if (kernel.getPrograms())
      splitPersistent(gpu, (*shape)[2]);
    else
      splitOnce(gpu, (*shape)[2]);
  }

  void splitPersistent(const target::GpuTarget &gpu, int64_t ctas) {
    std::optional<GemmPrograms> plan = findGemmPrograms(getOperation());
    if (!plan)
      return refuse("programs do more than accumulate dots by wgmma");
    if (!canShareSteps(plan->steps, ctas))
      return refuse(unknownSteps);
    if (readsBlocks(plan->steps->getNextNode()))
      return refuse("programs load blocks after the main loop");
    if (!hasRoom(gpu, plan->steps, plan->steps.getResultTypes(), ctas))
      return;
    shareSteps(plan->programs, plan->steps, ctas);
    IRRewriter rewriter(plan->steps);
    plan->emitCombines(rewriter, /*columnsOfAccumulator=*/IntegerAttr());
  }

  void splitOnce(const target::GpuTarget &gpu, int64_t ctas) {
    std::optional<MainLoop> plan = findMainLoop(getOperation());
    if (!plan)
      return refuse("programs do more than accumulate dots and advance pointers");
    if (!canShareSteps(plan->loop, ctas))
      return refuse(unknownSteps);
    if (readsBlocks(&getOperation().getBody().front().front()))
      return refuse("blocks are loaded by TMA, and the kernel is not persistent");
    if (hasRoom(gpu, plan->loop, plan->getAccumulator().getType(), ctas,
                exchangedBytesOf(getOperation(), plan->loop)) &&
        !splitProgram(getOperation(), *plan, ctas))
      refuse("the increment of a pointer is not loop-invariant");
  }

  /// Returns true if TMA reads a block in one of the operations from `first` on.
  static bool readsBlocks(Operation *first) {
    for (Operation *op = first; op; op = op->getNextNode())
      if (op->walk([](cta::TmaLoadSyncOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return true;
    return false;
  }

  /// Returns true if the exchange buffer fits together with `others` bytes; otherwise emits a remark.
  bool hasRoom(const target::GpuTarget &gpu, scf::ForOp steps, TypeRange sums, int64_t ctas, int64_t others = 0) {
    int64_t exchange = 0; // accumulators are exchanged sequentially, so the buffer has the size of the largest one
    for (Type sum : sums)
      exchange = std::max(exchange, planExchangeBuffer(cast<RankedTensorType>(sum), ctas).getBytes());
    int64_t bytes = sharedBytesOf(getOperation(), steps) + others + exchange;
    bool fits = bytes <= gpu.maxSharedPerCta;
    if (!fits)
      refuse("the accumulators do not fit into shared memory");
    return fits;
  }

  static constexpr const char *unknownSteps = "the loop's step times the number of CTAs is not a constant of 32 bits";

  void refuse(StringRef reason) {
    getOperation().emitRemark() << "K is not split over the CTAs of a cluster: " << reason;
  }
};

} // namespace
