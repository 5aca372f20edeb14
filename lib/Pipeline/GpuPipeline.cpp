// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPU pipeline: which passes run, in which order, and why there.
#include "Pipeline/GpuPipeline.h"

#include "Analysis/KernelForm.h"
#include "Conversion/Passes.h"
#include "Tile/TileDialect.h"
#include "Transforms/CanonicalizeLoops.h"
#include "Transforms/Passes.h"

#include "mlir/Conversion/ConvertToLLVM/ToLLVMPass.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tile;

namespace {

using Can = PipelineAbilities;

class StepList {
public:
  using CreateFn = std::function<std::unique_ptr<Pass>()>;
  using Abilities = std::vector<bool Can::*>;

  /// A pass of MLIR.
  void add(PassKind kind, CreateFn create) { add(*create(), kind, create, {}, /*isAllowed=*/true); }
  /// A pass whose declaration says of which kind it is.
  void add(CreateFn create, Abilities serves = {}, bool isAllowed = true) {
    std::unique_ptr<Pass> pass = create();
    add(*pass, dynamic_cast<const KindedPass &>(*pass).getKind(), create, std::move(serves), isAllowed);
  }
  std::vector<PipelineStep> steps;
  bool onKernel = true; ///< Whether the steps added from now on run on kernels.

private:
  void add(const Pass &pass, PassKind kind, CreateFn create, Abilities serves, bool isAllowed) {
    steps.push_back({pass.getArgument().str(), kind, onKernel, isAllowed, std::move(serves), std::move(create)});
  }
};

} // namespace

std::vector<PipelineStep> tile::gpuPipelineSteps(const GpuPipelineOptions &options) {
  using enum PassKind;
  KernelLimits limits = options.limits;
  bool optimises = options.optLevel > 0;
  StepList list;

  // Normal form: constants folded and shared, so that later passes match few shapes of the same thing.
  list.add(Optimisation, [] { return createCanonicalizer(); });
  // One number for what a loop counts twice, and one computation of what follows from it.
  list.add([] { return createTileSimplifyInductions(); });
  list.add(Optimisation, [] { return createCSEPass(); });
  // Blocks are as small as what is loaded, before anything looks at them.
  list.add([] { return createTileNarrowLoads(); });
  // Which instructions there are for a dot depends on the number of warps.
  list.add([] { return createTileAddWarps(); });
  // What multiplies decides which operands become blocks of descriptors, and which dots are swapped.
  list.add([] { return createTileChooseEngine(); });
  // Operands of dots come through descriptors, whether the program made them or computed addresses …
  list.add([] { return createTileRaiseDescriptors(); }, {&Can::mapsOfPointers}, limits.mapsOfPointers);
  // Rows that wgmma has no instruction for become columns, which may have any multiple of 8.
  list.add([] { return createTileSwapDot(); }, {&Can::swappedProducts});
  // … and the launcher makes those that it can: after raising, which makes more of them.
  list.add([] { return createTileHostDescriptors(); }, {&Can::mapsOfPointers});
  // While loops still have the bounds that the program computes, and once it is known what comes through tensor maps.
  list.add([limits] { return createTileDistributePrograms({limits.severalPrograms}); },
           {&Can::severalPrograms, &Can::sharedSteps, &Can::sharedTail, &Can::pingPong});
  // The kernel makes other descriptors of operands, once it is known how many CTAs need memory for them.
  list.add([] { return createTileDeviceDescriptors(); });
  // The other descriptors become pointers and masks.
  list.add([] { return createTileExpandDescriptors(); });
  // Neighbouring programs go to neighbouring CTAs, if what they read comes through tensor maps.
  list.add([] { return createTileFormClusters(); });
  // Layouts are for powers of two. After what recognises blocks by their masks, of which this makes more.
  list.add([] { return createTilePadBlocks(); });
  // After what finds the extents of tensors in masks: the ends that blocks cannot reach need none.
  list.add([] { return createTileFoldConditions(); });
  // What only computed addresses is dead now, and would get layouts.
  list.add(Optimisation, [] { return createCanonicalizer(); });
  // Operands come as they do, and have their final sizes. This ends phase tile.
  list.add([] { return createTileSettleEngine(); });

  // Every tensor has a layout; naive, but right. This begins phase layout. Without optimisation addresses stay in the
  // layouts of accesses: to convert those of a whole block takes more shared memory than there may be.
  list.add([=] { return createCtaAssignLayouts({/*accumulators=*/optimises}); });
  // Duplicate conversions would each be decided on alone.
  list.add(Optimisation, [] { return createCSEPass(); });
  // Values are computed where they are needed; what is left of conversions moves data that has to move.
  list.add([] { return createCtaRemoveConversions(); }, {&Can::fewConversions});
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
  list.add([] { return createCtaAsyncCopies(); }, {&Can::asyncCopies});
  // Where threads meet, and which products there are, is still easy to see.
  list.add([] { return createCtaKeepRows(); });
  // No access or product of phase layout is left: phase async begins.
  list.add([] { return createCtaLowerDot(); });
  // Dots and accumulators have their final form, so it can be decided who does which steps.
  list.add([=] { return createCtaShareSteps({limits.sharedSteps, limits.sharedTail}); },
           {&Can::sharedSteps, &Can::sharedTail});
  // All is decided about which CTA does what. Before shared memory is counted, in which they add up.
  list.add([] { return createCtaLowerCombines(); });
  // After the dots, so that only the order of operations is left to decide. Before reductions fall apart into steps, so
  // that it is easy to see what exchanges.
  list.add([] { return createCtaPipeline(); });

  // Data that still crosses threads goes through shared memory: the last pass that creates buffers.
  list.add([] { return createCtaLowerConversions(); });
  // Knows all other buffers now, so the ring can take what is left of the shared memory.
  list.add([] { return createCtaSpecializeWarps(); }, {&Can::pingPong});
  // Who has which registers and slots is known, and slots are still released where they are read.
  list.add([] { return createCtaScheduleLoop(); });
  // Where the last wgmma is awaited, and so which ones the other team need not wait for, is decided.
  list.add([] { return createCtaPingPong(); }, {&Can::pingPong});
  // Slots are released at their final places.
  list.add([] { return createCtaMulticast(); });
  // Products and accesses keep their order from here on; releases of slots still say which products they wait for, and
  // stores of different programs, which write different places, are not those of different iterations of a loop.
  list.add([] { return createCtaInsertWaits(); });
  // All is decided about who computes which program, waits for which slot, and in which order. Programs, and then
  // counters of slots, which go on from one program to the next, are numbers like others from here on.
  list.add([] { return createCtaLowerPrograms(); });
  // Phase scheduled: who does what and waits for what is said by operations of threads.
  list.add([] { return createCtaLowerRings(); });
  list.add([] { return createCtaOverlapGrids(); });
  // Roles have their own arithmetic now, and can share what is computed before them.
  list.add([] { return createCtaInvertDivisors(); });
  list.add(Optimisation, [] { return createCanonicalizer(); });
  list.add(Optimisation, [] { return createCSEPass(); });

  // Buffers that never live together share memory; barriers are placed afterwards, because sharing makes hazards.
  // They end phase allocated.
  list.add([] { return createCtaAllocateShared(); });
  list.add([] { return createCtaInsertBarriers(); });

  // Tensors become registers; from here on the module holds functions of one thread. The rest is upstream's lowering.
  list.onKernel = false;
  list.add([] { return createConvertCtaToNvvm(); });
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

/// Whether the options leave the step in the pipeline.
static bool runs(const PipelineStep &step, const GpuPipelineOptions &options) {
  return step.kind == PassKind::Correctness ||
         (step.isAllowed && options.optLevel > 0 && !llvm::is_contained(options.disabled, step.name));
}

KernelLimits KernelLimits::operator&(const KernelLimits &other) const {
  return {.mapsOfPointers = mapsOfPointers && other.mapsOfPointers,
          .severalPrograms = severalPrograms && other.severalPrograms,
          .sharedSteps = sharedSteps && other.sharedSteps,
          .sharedTail = sharedTail && other.sharedTail};
}

PipelineAbilities tile::abilitiesOf(const GpuPipelineOptions &options) {
  const KernelLimits &limits = options.limits;
  PipelineAbilities can{.mapsOfPointers = limits.mapsOfPointers,
                        .fewConversions = true,
                        .swappedProducts = true,
                        .asyncCopies = true,
                        .severalPrograms = limits.severalPrograms,
                        .sharedSteps = limits.severalPrograms && limits.sharedSteps,
                        .sharedTail = limits.severalPrograms && limits.sharedTail,
                        .pingPong = limits.severalPrograms};
  for (const PipelineStep &step : gpuPipelineSteps(options))
    if (!runs(step, options))
      for (bool Can::*ability : step.serves)
        can.*ability = false;
  return can;
}

LogicalResult tile::buildGpuPipeline(OpPassManager &manager, const GpuPipelineOptions &options,
                                     llvm::function_ref<void(const std::string &)> emitError) {
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
    std::optional<Form> phase;
    if (runs(step, options)) {
      std::unique_ptr<Pass> pass = step.create();
      if (auto *contract = dynamic_cast<FormContract *>(pass.get())) {
        if (std::exchange(isTrusted, true))
          contract->trustInput();
        phase = contract->getEnsuredPhase();
      }
      if (step.onKernel)
        manager.addNestedPass<KernelOp>(std::move(pass));
      else
        manager.addPass(std::move(pass));
    }
    if (step.name == options.stopAfter)
      return success();
    if (phase)
      manager.addNestedPass<KernelOp>(createTileVerifyPhase({nameOf(*phase).str()}));
  }
  return success();
}
