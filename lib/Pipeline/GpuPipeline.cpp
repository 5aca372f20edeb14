// The GPU pipeline: which passes run, in which order, and why there.
#include "Pipeline/GpuPipeline.h"

#include "Analysis/KernelForm.h"
#include "Conversion/Passes.h"
#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;

namespace {

class StepList {
public:
  template <typename CreateFn> void add(StepKind kind, CreateFn create) {
    std::string name(create()->getArgument());
    steps.push_back({name, kind, onKernel, create});
  }
  void verify(std::string phase) {
    add(StepKind::Check, [phase] { return createTileVerifyPhase({phase}); });
  }
  void cleanUp() {
    add(StepKind::Optimisation, [] { return createCanonicalizerPass(); });
    add(StepKind::Optimisation, [] { return createCSEPass(); });
  }
  std::vector<PipelineStep> steps;
  bool onKernel = true; ///< Whether the steps added from now on run on kernels.
};

} // namespace

std::vector<PipelineStep> tile::gpuPipelineSteps(const GpuPipelineOptions &options) {
  using enum StepKind;
  std::string target = options.target;
  StepList list;

  // Normal form: constants folded and shared, so that later passes match few shapes of the same thing.
  list.cleanUp();
  // Types of operands that the target's instructions have, before anything looks at what they can multiply.
  list.add(Correctness, [target] { return createTileWidenDot({target}); });
  // Which instructions there are for a dot depends on the number of warps.
  list.add(Optimisation, [target] { return createTileAddWarps({target}); });
  // Operands of dots come through descriptors, whether the program made them or computed addresses …
  list.add(Optimisation, [target] { return createTileRaiseDescriptors({target}); });
  // Rows that wgmma has no instruction for become columns, which may have any multiple of 8.
  list.add(Optimisation, [target] { return createTileSwapDot({target}); });
  // … and the launcher makes those that it can: after raising, which makes more of them.
  list.add(Optimisation, [target] { return createTileHostDescriptors({target}); });
  // Copies for the next program can then overlap the end of this one.
  list.add(Optimisation, [target] { return createTileMakePersistent({target}); });
  // The kernel makes other descriptors of operands, once it is known how many CTAs need memory for them.
  list.add(Optimisation, [target] { return createTileDeviceDescriptors({target}); });
  // The other descriptors become pointers and masks.
  list.add(Correctness, [] { return createTileExpandDescriptors(); });
  // Neighbouring programs go to neighbouring CTAs, while the order of programs is still visible.
  list.add(Optimisation, [target] { return createTileFormClusters({target}); });
  // Layouts are for powers of two. After what recognises blocks by their masks, of which this makes more.
  list.add(Correctness, [] { return createTilePadBlocks(); });
  // What only computed addresses is dead now, and would get layouts.
  list.cleanUp();
  list.verify("tile");

  // Every tensor has a layout; naive, but right.
  list.add(Correctness, [target] { return createCtaAssignLayouts({target}); });
  list.verify("layout");
  // Duplicate conversions would each be decided on alone.
  list.add(Optimisation, [] { return createCSEPass(); });
  // Values are computed where they are needed; what is left of conversions moves data that has to move.
  list.add(Optimisation, [] { return createCtaRemoveConversions(); });
  // Layouts are decided, and dots still easy to see.
  list.add(Optimisation, [] { return createCtaLoadAhead(); });
  list.cleanUp();

  // Accesses keep their layout from here on, so their width can be decided.
  list.add(Optimisation, [] { return createCtaVectorizeAccess(); });
  // Panels are written as wide as the whole.
  list.add(Optimisation, [] { return createCtaSplitStores(); });
  // Before the dots, which read buffers that TMA has filled, and before loads become copies of whole blocks: what is
  // added to accumulators is loaded panel by panel.
  list.add(Correctness, [] { return createCtaLowerDescriptors(); });
  // Needs the width: cp.async moves 4, 8 or 16 bytes.
  list.add(Optimisation, [target] { return createCtaAsyncCopies({target}); });
  list.add(Correctness, [target] { return createCtaLowerDot({target}); });
  list.verify("async");
  // Dots and accumulators have their final form; roles and rings come later. A cluster that was asked for comes
  // first.
  list.add(Optimisation, [target] { return createCtaSplitSteps({target}); });
  list.add(Optimisation, [] { return createCtaStreamK(); });
  // Before the pipeline, which needs the first K step of a dot by itself to load its operands ahead.
  list.add(Optimisation, [] { return createCtaSplitProducts(); });
  // After the dots, so that only the order of operations is left to decide.
  list.add(Optimisation, [target] { return createCtaPipeline({target}); });

  // Data that still crosses threads goes through shared memory: the last pass that creates buffers.
  list.add(Correctness, [] { return createCtaLowerConversions(); });
  // Knows all other buffers now, so the ring can take what is left of the shared memory.
  list.add(Optimisation, [target] { return createCtaSpecializeWarps({target}); });
  list.add(Optimisation, [] { return createCtaOverlapWaits(); });
  // Slots of rings, whose counters tell the readers of different buffers apart, are still released where they are read.
  list.add(Optimisation, [] { return createCtaScheduleLoop(); });
  // Where the last wgmma is awaited, and so which ones the other team need not wait for, is decided.
  list.add(Optimisation, [target] { return createCtaPingPong({target}); });
  // Slots are released at their final places.
  list.add(Optimisation, [] { return createCtaMulticast(); });
  list.add(Optimisation, [target] { return createCtaOverlapGrids({target}); });
  // Accesses keep their order from here on.
  list.add(Correctness, [] { return createCtaAwaitStores(); });
  // Roles have their own arithmetic now, and can share what is computed before them.
  list.add(Optimisation, [] { return createCtaInvertDivisors(); });
  list.cleanUp();
  list.verify("scheduled");

  // Buffers that never live together share memory; barriers are placed afterwards, because sharing makes hazards.
  list.add(Correctness, [target] { return createCtaAllocateShared({target}); });
  list.add(Correctness, [] { return createCtaInsertBarriers(); });
  list.verify("allocated");

  // Tensors become registers; from here on the module holds functions of one thread. The rest is upstream's lowering.
  list.onKernel = false;
  list.add(Correctness, [target] { return createConvertCtaToNvvm({target}); });
  // While loops have arguments, and packing is known.
  list.add(Optimisation, [] { return createNvvmCarryWords(); });
  list.add(Correctness, [] { return createNvvmLowerControlFlow(); });
  // All dialects in one pass. Without a record of changes to take back: nothing here is tried that may fail. And with
  // nothing cleaned up after it: LLVM does that first, and the PTX is the same.
  list.add(Correctness, [] {
    ConvertToLLVMPassOptions withoutRollback;
    withoutRollback.allowPatternRollback = false;
    return createConvertToLLVMPass(std::move(withoutRollback));
  });
  list.add(Correctness, [] { return createReconcileUnrealizedCastsPass(); });
  return list.steps;
}

static LogicalResult checkNames(const std::vector<PipelineStep> &steps, const GpuPipelineOptions &options,
                                llvm::function_ref<void(const std::string &)> emitError) {
  auto find = [&](StringRef name) {
    return llvm::find_if(steps, [&](const PipelineStep &step) { return step.name == name; });
  };
  auto complain = [&](StringRef option, StringRef name) {
    SmallVector<StringRef> names;
    for (const PipelineStep &step : steps)
      if (!llvm::is_contained(names, step.name))
        names.push_back(step.name);
    emitError(
        (option + " '" + name + "' names no pass of the pipeline; the passes are " + llvm::join(names, ", ")).str());
    return failure();
  };
  for (const std::string &name : options.disabled) {
    auto step = find(name);
    if (step == steps.end())
      return complain("--disable", name);
    if (step->kind != StepKind::Optimisation) {
      emitError("--disable '" + name +
                "' names a pass that is needed for correctness; only optimisations can be disabled");
      return failure();
    }
  }
  if (!options.startAfter.empty() && find(options.startAfter) == steps.end())
    return complain("--start-after", options.startAfter);
  if (!options.stopAfter.empty() && find(options.stopAfter) == steps.end())
    return complain("--stop-after", options.stopAfter);
  return success();
}

LogicalResult tile::buildGpuPipeline(OpPassManager &manager, const GpuPipelineOptions &options,
                                     llvm::function_ref<void(const std::string &)> emitError) {
  if (!target::findTarget(options.target)) {
    emitError("unknown target '" + options.target + "'; known are " + target::listTargets());
    return failure();
  }
  std::vector<PipelineStep> steps = gpuPipelineSteps(options);
  if (failed(checkNames(steps, options, emitError)))
    return failure();
  // The input is what a pipeline that stops there ends with: after the first of several steps of that name.
  auto first = steps.begin();
  if (!options.startAfter.empty())
    first = std::next(llvm::find_if(steps, [&](const PipelineStep &step) { return step.name == options.startAfter; }));
  // What the first pass requires is checked. The others get what the passes before them ensure.
  bool isTrusted = false;
  for (const PipelineStep &step : llvm::make_range(first, steps.end())) {
    bool wanted = step.kind != StepKind::Optimisation ||
                  (options.optLevel > 0 && !llvm::is_contained(options.disabled, step.name));
    if (wanted) {
      std::unique_ptr<Pass> pass = step.create();
      if (auto check = dynamic_cast<InputCheck *>(pass.get()); check && std::exchange(isTrusted, true))
        check->trustInput();
      if (step.onKernel)
        manager.addNestedPass<KernelOp>(std::move(pass));
      else
        manager.addPass(std::move(pass));
    }
    if (step.name == options.stopAfter)
      return success();
  }
  return success();
}
