// cta-prefetch-loads: load into registers what the next iteration of a product's loop needs.
//
// Where operands cannot be copied asynchronously (elements of 2 bytes at any address, values that are computed from what
// is loaded), each iteration would wait for its loads, and the tensor cores with it. Loads of the next iteration are
// issued as soon as this one's values have left their registers, and arrive under its product:
//
//   for: x = load; y = convert_layout x; mma y   ==>   x = load                                       (prologue)
//                                                      for: y = convert_layout x; x' = load; mma y; yield x'
//
// Loads of an iteration that the loop does not have are masked out. Copies run further ahead (cta-pipeline); loops with
// some are left alone.
#include "Cta/CtaDialect.h"
#include "Transforms/Cta/LoopStages.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/SCF/Transforms/Transforms.h"

namespace tile {
#define GEN_PASS_DEF_CTAPREFETCHLOADS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Of a thread's registers, for what is loaded ahead: a quarter of what 256 threads have each beside 64 accumulators.
constexpr int64_t mostBytes = 128;

bool isProduct(Operation *op) {
  return isa<cta::MmaSyncOp, cta::WgmmaOp, cta::FmaDotOp>(op);
}

bool isPrefetched(Operation *op) {
  return isa<LoadOp>(op) && isa<RankedTensorType>(op->getResult(0).getType());
}

int64_t bytesInRegisters(scf::ForOp loop) {
  int64_t bytes = 0;
  for (Operation &op : *loop.getBody())
    if (isPrefetched(&op)) {
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      bytes += cta::getLayout(type).numRegisters() * getBytesInMemory(type.getElementType());
    }
  return bytes;
}

/// Whether the loop adds up products of what it loads, and nothing in it could change what is loaded.
bool canPrefetch(scf::ForOp loop) {
  if (hasInnerLoop(loop) || llvm::none_of(*loop.getBody(), [](Operation &op) { return isProduct(&op); }) ||
      llvm::none_of(*loop.getBody(), [](Operation &op) { return isPrefetched(&op); }) ||
      bytesInRegisters(loop) > mostBytes)
    return false;
  for (Operation *op : collectStage(loop, isPrefetched)) {
    auto load = dyn_cast<LoadOp>(op);
    if (load ? load.getIsVolatile() : !isMemoryEffectFree(op))
      return false;
  }
  WalkResult result = loop.walk([](Operation *op) {
    bool isForeign = isa<cta::AsyncCopyOp, cta::TmaLoadSyncOp, PrintOp, AssertOp>(op) || writesGlobalMemory(op);
    return isForeign ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// What takes this iteration's values out of their registers, the next one's loads, and the rest from the product on.
LoopSchedule planSchedule(scf::ForOp loop) {
  constexpr unsigned ahead = 0, use = 1;
  DenseSet<Operation *> loads = collectStage(loop, isPrefetched);
  Operation *product = nullptr;
  for (Operation &op : *loop.getBody())
    if (!product && isProduct(&op))
      product = &op;
  LoopSchedule schedule;
  auto add = [&](unsigned stage, llvm::function_ref<bool(Operation *)> belongs) {
    for (Operation &op : loop.getBody()->without_terminator())
      if (loads.contains(&op) == (stage == ahead) && belongs(&op))
        schedule.emplace_back(&op, stage);
  };
  add(use, [&](Operation *op) { return op->isBeforeInBlock(product); });
  add(ahead, [](Operation *) { return true; });
  add(use, [&](Operation *op) { return !op->isBeforeInBlock(product); });
  return schedule;
}

/// All that runs ahead does no harm but loads.
Operation *predicate(RewriterBase &rewriter, Operation *op, Value condition) {
  auto load = dyn_cast<LoadOp>(op);
  if (!load)
    return op;
  rewriter.setInsertionPoint(load);
  load.getMaskMutable().assign(emitMaskIf(rewriter, load.getLoc(), condition, load.getMask(), load.getPtr()));
  return load;
}

struct CtaPrefetchLoads : tile::impl::CtaPrefetchLoadsBase<CtaPrefetchLoads> {
  void runOnKernel() override {
    if (getOperation().getNumStages() < 2)
      return;
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (canPrefetch(loop))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      nameYields(rewriter, loop);
      scf::PipeliningOption options;
      options.supportDynamicLoops = true;
      options.peelEpilogue = false;
      options.predicateFn = predicate;
      options.getScheduleFn = [](scf::ForOp loop, LoopSchedule &schedule) { schedule = planSchedule(loop); };
      rewriter.setInsertionPoint(loop);
      // A loop that upstream does not take stays as it is.
      (void)scf::pipelineForLoop(rewriter, loop, options);
    }
    eraseNames(rewriter, getOperation());
  }
};

} // namespace
