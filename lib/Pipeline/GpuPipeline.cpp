// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPU pipeline: which passes run, in which order, and the reason for each position.
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

  /// Adds an upstream MLIR pass.
  void add(PassKind kind, CreateFn create) { add(*create(), kind, create, {}, /*isAllowed=*/true); }
  /// Adds a pass whose declaration states its kind.
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

  // Scaled dots become dots that the target supports, so that no other pass has to handle them.
  list.add([] { return createTileLowerScaledDots(); });
  // Canonical form: constants are folded and shared, so that later passes match fewer forms.
  list.add(Optimisation, [] { return createCanonicalizer(); });
  // Merges duplicate loop counters; CSE then merges the values that are computed from them.
  list.add([] { return createTileSimplifyInductions(); });
  list.add(Optimisation, [] { return createCSEPass(); });
  // Shrinks blocks to the elements that are actually loaded. Runs before any pass that decides by the size of blocks.
  list.add([] { return createTileNarrowLoads(); });
  // The instructions available for a dot depend on the number of warps.
  list.add([] { return createTileAddWarps(); });
  // The engine determines which operands are loaded through descriptors, and which dots are swapped.
  list.add([] { return createTileChooseEngine(); });
  // Loads dot operands through descriptors, even if the program computes addresses.
  list.add([] { return createTileRaiseDescriptors(); }, {&Can::mapsOfPointers}, limits.mapsOfPointers);
  // Transposes dots whose row count wgmma does not support: a column count may be any multiple of 8.
  list.add([] { return createTileSwapDot(); }, {&Can::swappedDots});
  // Runs after raising, which creates more descriptors that the launcher can encode.
  list.add([] { return createTileHostDescriptors(); }, {&Can::mapsOfPointers});
  // Runs while loops still have the bounds that the program computes, and once it is known which accesses use tensor
  // maps.
  list.add([limits] { return createTileDistributePrograms({limits.severalPrograms}); },
           {&Can::severalPrograms, &Can::sharedSteps, &Can::sharedTail, &Can::pingPong});
  // Lets the kernel encode the operands' tensor maps that the launcher cannot encode. Runs once it is known for how
  // many CTAs memory is needed.
  list.add([] { return createTileDeviceDescriptors(); });
  // All other descriptors become pointers and masks.
  list.add([] { return createTileExpandDescriptors(); });
  // Assigns neighbouring programs to neighbouring CTAs, if they load through tensor maps.
  list.add([] { return createTileFormClusters(); });
  // Layouts require powers of two. Runs after the passes that recognize blocks by their masks, because it adds masks.
  list.add([] { return createTilePadBlocks(); });
  // Removes masks at boundaries that blocks cannot reach. Runs after the passes that derive the extents of tensors from
  // masks.
  list.add([] { return createTileFoldConditions(); });
  // Removes address computations that are now dead, so that they do not get layouts.
  list.add(Optimisation, [] { return createCanonicalizer(); });
  // Settles the engines, since operand sources and block sizes are now final. This ends phase tile.
  list.add([] { return createTileSettleEngine(); });

  // Gives every tensor a layout, naively but correctly. This begins phase layout. Without optimisation, addresses are
  // computed in the layout of the access: converting the addresses of a whole block may need more shared memory than
  // there is.
  list.add([=] { return createCtaAssignLayouts({/*accumulators=*/optimises}); });
  // Merges identical conversions, on which the next pass would otherwise decide separately.
  list.add(Optimisation, [] { return createCSEPass(); });
  // Values are computed in the layout in which they are needed; the remaining conversions move data that has to move.
  list.add([] { return createCtaRemoveConversions(); }, {&Can::fewConversions});
  // Runs when layouts are final, because they determine which columns a thread holds.
  list.add([] { return createCtaDeferSums(); });
  // Needs final layouts, and dots that are still easy to recognize.
  list.add([] { return createCtaLoadAhead(); });
  list.add(Optimisation, [] { return createCSEPass(); });

  // Accesses keep their layout from here on, so their width can be decided.
  list.add([] { return createCtaVectorizeAccess(); });
  // Runs after vectorization: panels are stored with the vector width of the whole matrix.
  list.add([] { return createCtaSplitStores(); });
  // Runs before dots are lowered, because they read buffers that TMA fills, and before loads become copies of whole
  // blocks, because values that are added to accumulators are loaded panel by panel.
  list.add([] { return createCtaLowerDescriptors(); });
  // Needs the vector width: cp.async copies 4, 8 or 16 bytes.
  list.add([] { return createCtaAsyncCopies(); }, {&Can::asyncCopies});
  // Runs while synchronization points and dots are still easy to recognize.
  list.add([] { return createCtaKeepRows(); });
  // Lowers the last operations that only phase layout allows. Phase async begins.
  list.add([] { return createCtaLowerDot(); });
  // From here on, accumulators in tensor memory are no longer values that threads hold.
  list.add([] { return createCtaKeepAccumulators(); });
  // Decides the distribution of K steps, now that MMAs and accumulators have their final form.
  list.add([=] { return createCtaShareSteps({limits.sharedSteps, limits.sharedTail}); },
           {&Can::sharedSteps, &Can::sharedTail});
  // Runs after the work distribution is final, and before shared memory is allocated, because combines use shared
  // memory.
  list.add([] { return createCtaLowerCombines(); });
  // Runs after dots are lowered, so that only the order of operations is left to decide, and before reductions are
  // split into steps, so that exchanges between threads are easy to recognize.
  list.add([] { return createCtaPipeline(); });

  // Lets data that still moves between threads go through shared memory. Later passes create buffers only for rings.
  list.add([] { return createCtaLowerConversions(); });
  // Runs when both the operands of MMAs and converted layouts are stored to buffers.
  list.add([] { return createCtaReuseStores(); });
  // Runs when all other buffers are known, so that the ring can take the remaining shared memory.
  list.add([] { return createCtaSpecializeWarps(); }, {&Can::pingPong});
  // Runs when operands come through rings, so that main loops only wait and issue MMAs.
  list.add([] { return createCtaSpecializeMma(); });
  // Runs when the registers and slots of the roles are known, and while slots are still released where they are read.
  list.add([] { return createCtaScheduleLoop(); });
  // Runs when the position of the last wgmma's await is decided; there, the other team may start.
  list.add([] { return createCtaPingPong(); }, {&Can::pingPong});
  // Runs when the releases of slots have their final positions.
  list.add([] { return createCtaMulticast(); });
  // MMAs and accesses keep their order from here on. Runs while releases of slots still have the tokens of the MMAs
  // that they wait for, and before the programs of a CTA become iterations of a loop, in which it would be hard to
  // prove that their stores write different addresses.
  list.add([] { return createCtaInsertWaits(); });
  // Runs when the distribution of programs and the order of slots are decided. This pass turns the indices of programs
  // into ordinary integers. The next pass does the same for the slot counters, which continue from one program to the
  // next.
  list.add([] { return createCtaLowerPrograms(); });
  // Phase scheduled: all work and synchronization is expressed by operations of threads.
  list.add([] { return createCtaLowerRings(); });
  list.add([] { return createCtaOverlapGrids(); });
  // Each role now computes its own copy of scalars. Values that are computed before the roles can be shared by them.
  list.add([] { return createCtaInvertDivisors(); });
  list.add(Optimisation, [] { return createCanonicalizer(); });
  list.add(Optimisation, [] { return createCSEPass(); });

  // Runs before shared memory is allocated: the instruction that allocates tensor memory writes its address to a
  // buffer.
  list.add([] { return createCtaAllocateTensorMemory(); });
  // Buffers with disjoint lifetimes share memory. Barriers are placed afterwards, because sharing creates hazards; the
  // barrier pass completes phase allocated.
  list.add([] { return createCtaAllocateShared(); });
  list.add([] { return createCtaInsertBarriers(); });

  // Tensors become registers; from here on the module holds per-thread functions. Upstream's patterns lower all other
  // operations.
  list.onKernel = false;
  list.add([] { return createConvertCtaToNvvm(); });
  // Must run while loops carry values as arguments and packing operations are still visible.
  list.add([] { return createNvvmCarryWords(); });
  list.add([] { return createNvvmSinkFragments(); });
  list.add([] { return createNvvmLowerControlFlow(); });
  // Lowers all dialects in one pass, without rollback, because no pattern here may fail. No cleanup follows: LLVM's own
  // pipeline starts with one, and the PTX is the same without it.
  list.add(Correctness, [] {
    ConvertToLLVMPassOptions withoutRollback;
    withoutRollback.allowPatternRollback = false;
    return createConvertToLLVMPass(std::move(withoutRollback));
  });
  if (options.instrument) // the IR is final here
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

/// Returns true if the options leave the step in the pipeline.
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

PipelineAbilities tile::abilitiesOf(const GpuPipelineOptions &options, const target::GpuTarget &gpu) {
  const KernelLimits &limits = options.limits;
  PipelineAbilities can{.mapsOfPointers = limits.mapsOfPointers,
                        .fewConversions = true,
                        .swappedDots = true,
                        .asyncCopies = true,
                        .severalPrograms = limits.severalPrograms,
                        .sharedSteps = limits.severalPrograms && limits.sharedSteps,
                        .sharedTail = limits.severalPrograms && limits.sharedTail,
                        .pingPong = limits.severalPrograms};
  for (const PipelineStep &step : gpuPipelineSteps(options))
    if (!runs(step, options))
      for (bool Can::*ability : step.serves)
        can.*ability = false;
  // These schedules need accumulators in registers.
  if (gpu.has(target::Feature::Tcgen05))
    can.sharedSteps = can.sharedTail = can.pingPong = false;
  return can;
}

LogicalResult tile::buildGpuPipeline(OpPassManager &manager, const GpuPipelineOptions &options,
                                     llvm::function_ref<void(const std::string &)> emitError) {
  std::vector<PipelineStep> steps = gpuPipelineSteps(options);
  if (failed(checkNames(steps, options, emitError)))
    return failure();
  // The input is the output of a pipeline that stopped after the step `startAfter`. If several steps have this name,
  // the first one is meant.
  auto first = steps.begin();
  if (!options.startAfter.empty())
    first = std::next(llvm::find_if(steps, [&](const PipelineStep &step) { return step.name == options.startAfter; }));
  // Only the first pass checks its requirements. All others rely on the passes before them.
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
