// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPU pipeline: which passes run, in which order, and why there.
#include "Pipeline/GpuPipeline.h"

#include "Analysis/KernelForm.h"
#include "Conversion/Passes.h"
#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;

namespace {

class StepList {
public:
  using CreateFn = std::function<std::unique_ptr<Pass>()>;

  /// A pass of MLIR.
  void add(PassKind kind, CreateFn create) { add(*create(), kind, create); }
  /// A pass whose declaration says of which kind it is.
  void add(CreateFn create) {
    std::unique_ptr<Pass> pass = create();
    add(*pass, dynamic_cast<const KindedPass &>(*pass).getKind(), create);
  }
  void verify(std::string phase) {
    add([phase] { return createTileVerifyPhase({phase}); });
  }
  std::vector<PipelineStep> steps;
  bool onKernel = true; ///< Whether the steps added from now on run on kernels.

private:
  void add(const Pass &pass, PassKind kind, CreateFn create) {
    steps.push_back({pass.getArgument().str(), kind, onKernel, std::move(create)});
  }
};

} // namespace

std::vector<PipelineStep> tile::gpuPipelineSteps(const GpuPipelineOptions &options) {
  using enum PassKind;
  std::string target = options.target;
  StepList list;

  // Normal form: constants folded and shared, so that later passes match few shapes of the same thing.
  list.add(Optimisation, [] { return createCanonicalizerPass(); });
  // One number for what a loop counts twice, and one computation of what follows from it.
  list.add([] { return createTileSimplifyInductions(); });
  list.add(Optimisation, [] { return createCSEPass(); });
  // Blocks are as small as what is loaded, before anything looks at them.
  list.add([] { return createTileNarrowLoads(); });
  // Types of operands that the target's instructions have, before anything looks at what they can multiply.
  list.add([target] { return createTileWidenDot({target}); });
  // Which instructions there are for a dot depends on the number of warps.
  list.add([target] { return createTileAddWarps({target}); });
  // What multiplies decides which operands become blocks of descriptors, and which dots are swapped.
  list.add([target] { return createTileChooseEngine({target}); });
  // Operands of dots come through descriptors, whether the program made them or computed addresses …
  list.add([target] { return createTileRaiseDescriptors({target}); });
  // Rows that wgmma has no instruction for become columns, which may have any multiple of 8.
  list.add([] { return createTileSwapDot(); });
  // … and the launcher makes those that it can: after raising, which makes more of them.
  list.add([] { return createTileHostDescriptors(); });
  // While loops still have the bounds that the program computes.
  list.add([] { return createTileOrderPrograms(); });
  // Copies for the next program can then overlap the end of this one.
  list.add([] { return createTileMakePersistent(); });
  // The kernel makes other descriptors of operands, once it is known how many CTAs need memory for them.
  list.add([] { return createTileDeviceDescriptors(); });
  // The other descriptors become pointers and masks.
  list.add([] { return createTileExpandDescriptors(); });
  // Neighbouring programs go to neighbouring CTAs, if what they read comes through tensor maps.
  list.add([target] { return createTileFormClusters({target}); });
  // Layouts are for powers of two. After what recognises blocks by their masks, of which this makes more.
  list.add([] { return createTilePadBlocks(); });
  // After what finds the extents of tensors in masks: the ends that blocks cannot reach need none.
  list.add([] { return createTileFoldConditions(); });
  // What only computed addresses is dead now, and would get layouts.
  list.add(Optimisation, [] { return createCanonicalizerPass(); });
  // Operands come as they do, and have their final sizes.
  list.add([target] { return createTileSettleEngine({target}); });
  list.verify("tile");

  // Every tensor has a layout; naive, but right.
  list.add([target] { return createCtaAssignLayouts({target}); });
  list.verify("layout");
  // Duplicate conversions would each be decided on alone.
  list.add(Optimisation, [] { return createCSEPass(); });
  // Values are computed where they are needed; what is left of conversions moves data that has to move.
  list.add([] { return createCtaRemoveConversions(); });
  // Layouts say which columns a thread has.
  list.add([] { return createCtaDeferSums(); });
  // Layouts are decided, and dots still easy to see.
  list.add([] { return createCtaLoadAhead(); });
  list.add(Optimisation, [] { return createCSEPass(); });

  // Accesses keep their layout from here on, so their width can be decided.
  list.add([] { return createCtaVectorizeAccess(); });
  // Panels are written as wide as the whole.
  list.add([] { return createCtaSplitStores(); });
  // Before the dots, which read buffers that TMA has filled, and before loads become copies of whole blocks: what is
  // added to accumulators is loaded panel by panel.
  list.add([] { return createCtaLowerDescriptors(); });
  // Needs the width: cp.async moves 4, 8 or 16 bytes.
  list.add([target] { return createCtaAsyncCopies({target}); });
  list.add([target] { return createCtaLowerDot({target}); });
  list.verify("async");
  // Dots and accumulators have their final form, so it can be decided who does which steps. A cluster that was asked
  // for comes first.
  list.add([target] { return createCtaSplitSteps({target}); });
  list.add([] { return createCtaStreamK(); });
  // All is decided about which CTA does what. Before shared memory is counted, in which they add up.
  list.add([] { return createCtaLowerCombines(); });
  // Before the pipeline, which needs the first K step of a dot by itself to load its operands ahead.
  list.add([] { return createCtaSplitProducts(); });
  // After the dots, so that only the order of operations is left to decide. Before reductions fall apart into steps, so
  // that it is easy to see what exchanges.
  list.add([target] { return createCtaPipeline({target}); });

  // Data that still crosses threads goes through shared memory: the last pass that creates buffers.
  list.add([] { return createCtaLowerConversions(); });
  // Knows all other buffers now, so the ring can take what is left of the shared memory.
  list.add([target] { return createCtaSpecializeWarps({target}); });
  // Who has which registers and slots is known, and slots are still released where they are read.
  list.add([target] { return createCtaScheduleLoop({target}); });
  // Where the last wgmma is awaited, and so which ones the other team need not wait for, is decided.
  list.add([target] { return createCtaPingPong({target}); });
  // Slots are released at their final places.
  list.add([] { return createCtaMulticast(); });
  // Accesses keep their order from here on; loops over programs are in none.
  list.add([] { return createCtaAwaitStores(); });
  // All is decided about who computes which program, waits for which slot, and in which order. Programs, and then
  // counters of slots, which go on from one program to the next, are numbers like others from here on.
  list.add([] { return createCtaLowerPrograms(); });
  // Products have their final order, also from one program to the next; releases of slots still say what they wait for.
  list.add([] { return createCtaInsertWaits(); });
  list.add([] { return createCtaLowerRings(); });
  list.add([target] { return createCtaOverlapGrids({target}); });
  // Roles have their own arithmetic now, and can share what is computed before them.
  list.add([] { return createCtaInvertDivisors(); });
  list.add(Optimisation, [] { return createCanonicalizerPass(); });
  list.add(Optimisation, [] { return createCSEPass(); });
  list.verify("scheduled");

  // Buffers that never live together share memory; barriers are placed afterwards, because sharing makes hazards.
  list.add([target] { return createCtaAllocateShared({target}); });
  list.add([] { return createCtaInsertBarriers(); });
  list.verify("allocated");

  // Tensors become registers; from here on the module holds functions of one thread. The rest is upstream's lowering.
  list.onKernel = false;
  list.add([target] { return createConvertCtaToNvvm({target}); });
  // While loops have arguments, and packing is known.
  list.add([] { return createNvvmCarryWords(); });
  list.add([] { return createNvvmLowerControlFlow(); });
  // All dialects in one pass. Without a record of changes to take back: nothing here is tried that may fail. And with
  // nothing cleaned up after it: LLVM does that first, and the PTX is the same.
  list.add(Correctness, [] {
    ConvertToLLVMPassOptions withoutRollback;
    withoutRollback.allowPatternRollback = false;
    return createConvertToLLVMPass(std::move(withoutRollback));
  });
  if (options.instrument) // what is there now is what runs
    list.add([] { return createNvvmInstrument(); });
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
    if (step->kind != PassKind::Optimisation) {
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
    bool wanted = step.kind != PassKind::Optimisation ||
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
