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

  /// Adds a pass of MLIR.
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

  // Scaled dots become dots that the target computes, so that no other pass handles them.
  list.add([] { return createTileLowerScaledDots(); });
  // Canonical form: constants are folded and shared, so that later passes match fewer forms.
  list.add(Optimisation, [] { return createCanonicalizer(); });
  // One counter for duplicate loop counters, and one computation of dependent values.
  list.add([] { return createTileSimplifyInductions(); });
  list.add(Optimisation, [] { return createCSEPass(); });
  // Shrink blocks to the loaded extent first.
  list.add([] { return createTileNarrowLoads(); });
  // The instructions available for a dot depend on the number of warps.
  list.add([] { return createTileAddWarps(); });
  // The engine decides which operands become blocks of descriptors, and which dots are swapped.
  list.add([] { return createTileChooseEngine(); });
  // Operands of dots come through descriptors, whether the program created these or computed addresses …
  list.add([] { return createTileRaiseDescriptors(); }, {&Can::mapsOfPointers}, limits.mapsOfPointers);
  // Row counts without a wgmma instruction become column counts, which may be any multiple of 8.
  list.add([] { return createTileSwapDot(); }, {&Can::swappedDots});
  // … and the launcher encodes those that it can: after raising, which creates more of them.
  list.add([] { return createTileHostDescriptors(); }, {&Can::mapsOfPointers});
  // Loops still have the bounds that the program computes, and the accesses through tensor maps are known.
  list.add([limits] { return createTileDistributePrograms({limits.severalPrograms}); },
           {&Can::severalPrograms, &Can::sharedSteps, &Can::sharedTail, &Can::pingPong});
  // The kernel encodes the other operand descriptors, once it is known how many CTAs need memory for them.
  list.add([] { return createTileDeviceDescriptors(); });
  // All other descriptors become pointers and masks.
  list.add([] { return createTileExpandDescriptors(); });
  // Neighbouring programs go to neighbouring CTAs, if their loads come through tensor maps.
  list.add([] { return createTileFormClusters(); });
  // Layouts require powers of two. After passes that recognize blocks by their masks, because this adds masks.
  list.add([] { return createTilePadBlocks(); });
  // After passes that derive the extents of tensors from masks: boundaries that blocks cannot reach need no mask.
  list.add([] { return createTileFoldConditions(); });
  // Computations that only served addresses are dead now, and would get layouts.
  list.add(Optimisation, [] { return createCanonicalizer(); });
  // Operand sources and block sizes are final here. This ends phase tile.
  list.add([] { return createTileSettleEngine(); });

  // Every tensor gets a layout; naive, but correct. This begins phase layout. Without optimisation addresses stay in
  // the layouts of accesses: converting those of a whole block may exceed the shared memory.
  list.add([=] { return createCtaAssignLayouts({/*accumulators=*/optimises}); });
  // Otherwise duplicate conversions would each be decided on separately.
  list.add(Optimisation, [] { return createCSEPass(); });
  // Values are computed in the layout in which they are needed; the remaining conversions move data that has to move.
  list.add([] { return createCtaRemoveConversions(); }, {&Can::fewConversions});
  // Layouts determine which columns a thread holds.
  list.add([] { return createCtaDeferSums(); });
  // Needs final layouts, and dots that are still easy to recognize.
  list.add([] { return createCtaLoadAhead(); });
  list.add(Optimisation, [] { return createCSEPass(); });

  // Accesses keep their layout from here on, so their width can be decided.
  list.add([] { return createCtaVectorizeAccess(); });
  // Panels are stored as wide as the whole matrix.
  list.add([] { return createCtaSplitStores(); });
  // Before the dots, which read buffers that TMA has filled, and before loads become copies of whole blocks: values
  // added to accumulators are loaded panel by panel.
  list.add([] { return createCtaLowerDescriptors(); });
  // Needs the vector width: cp.async copies 4, 8 or 16 bytes.
  list.add([] { return createCtaAsyncCopies(); }, {&Can::asyncCopies});
  // Synchronization points and dots are still easy to recognize.
  list.add([] { return createCtaKeepRows(); });
  // No access or dot of phase layout is left: phase async begins.
  list.add([] { return createCtaLowerDot(); });
  // Accumulators in tensor memory are no longer values of threads.
  list.add([] { return createCtaKeepAccumulators(); });
  // MMAs and accumulators have their final form, so the distribution of K steps can be decided.
  list.add([=] { return createCtaShareSteps({limits.sharedSteps, limits.sharedTail}); },
           {&Can::sharedSteps, &Can::sharedTail});
  // Work distribution is final. Lower combines before shared memory is allocated, since they use it.
  list.add([] { return createCtaLowerCombines(); });
  // After the dots, so that only the order of operations is left to decide. Before reductions are split into steps, so
  // that exchanges are easy to recognize.
  list.add([] { return createCtaPipeline(); });

  // Data that still crosses threads goes through shared memory: the last pass that creates buffers.
  list.add([] { return createCtaLowerConversions(); });
  // All other buffers are known, so the ring can take the remaining shared memory.
  list.add([] { return createCtaSpecializeWarps(); }, {&Can::pingPong});
  // Operands come through rings, so that main loops only wait and issue MMAs.
  list.add([] { return createCtaSpecializeMma(); });
  // Registers and slots of the roles are known, and slots are still released where they are read.
  list.add([] { return createCtaScheduleLoop(); });
  // The await of the last wgmma, and so the point at which the other team may start, is decided.
  list.add([] { return createCtaPingPong(); }, {&Can::pingPong});
  // The releases of slots have their final positions.
  list.add([] { return createCtaMulticast(); });
  // MMAs and accesses keep their order from here on. Releases of slots still name the MMAs that they wait for, and
  // stores of different programs, which write different addresses, are not yet in different iterations of a loop.
  list.add([] { return createCtaInsertWaits(); });
  // Programs, slots and their order are decided. From here on programs, and then counters of slots, which continue from
  // one program to the next, are ordinary integers.
  list.add([] { return createCtaLowerPrograms(); });
  // Phase scheduled: all work and synchronization is expressed by operations of threads.
  list.add([] { return createCtaLowerRings(); });
  list.add([] { return createCtaOverlapGrids(); });
  // Roles have separate arithmetic now, and can share values that are computed before them.
  list.add([] { return createCtaInvertDivisors(); });
  list.add(Optimisation, [] { return createCanonicalizer(); });
  list.add(Optimisation, [] { return createCSEPass(); });

  // The memory that receives its address is a buffer, too.
  list.add([] { return createCtaAllocateTensorMemory(); });
  // Buffers with disjoint lifetimes share memory; barriers are placed afterwards, because sharing creates hazards. They
  // end phase allocated.
  list.add([] { return createCtaAllocateShared(); });
  list.add([] { return createCtaInsertBarriers(); });

  // Tensors become registers; from here on the module holds per-thread functions. Upstream's patterns lower all other
  // operations.
  list.onKernel = false;
  list.add([] { return createConvertCtaToNvvm(); });
  // Must run while loops have arguments, and packing is visible.
  list.add([] { return createNvvmCarryWords(); });
  list.add([] { return createNvvmSinkFragments(); });
  list.add([] { return createNvvmLowerControlFlow(); });
  // All dialects in one pass. Without rollback, because no pattern here may fail; and without cleanup afterwards,
  // because LLVM does that first and the PTX is the same.
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
  // These schedules divide and move accumulators in registers.
  if (gpu.has(target::Feature::Tcgen05))
    can.sharedSteps = can.sharedTail = can.pingPong = false;
  return can;
}

LogicalResult tile::buildGpuPipeline(OpPassManager &manager, const GpuPipelineOptions &options,
                                     llvm::function_ref<void(const std::string &)> emitError) {
  std::vector<PipelineStep> steps = gpuPipelineSteps(options);
  if (failed(checkNames(steps, options, emitError)))
    return failure();
  // The input is the output of a pipeline that stops there: after the first of several steps of that name.
  auto first = steps.begin();
  if (!options.startAfter.empty())
    first = std::next(llvm::find_if(steps, [&](const PipelineStep &step) { return step.name == options.startAfter; }));
  // The requirements of the first pass are checked. All others rely on the passes before them.
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
