// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The GPU pipeline as a library: tile dialect in, LLVM/NVVM dialects out.
//
// The pipeline is a list of steps, each of which runs one pass. A step is either needed for correctness or an
// optimisation. -O0 runs only the correctness steps; any optimisation step can be disabled by name without changing
// results. `tilec` and `tile-opt --tile-gpu-pipeline` build the same list from the same options. After the pass that
// ends a phase, the pipeline checks that the kernel is in that phase.
#pragma once

#include "Analysis/PassKind.h"
#include "Target/GpuTarget.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tile {

/// Transformations that passes may apply to kernels. A pass processes only one kernel at a time; the driver, which has
/// more information, can forbid transformations here.
struct KernelLimits {
  bool mapsOfPointers = true;  ///< Pointer accesses may be replaced by accesses through tensor maps.
  bool severalPrograms = true; ///< A CTA may compute several programs.
  bool sharedSteps = true;     ///< The CTAs of a cluster may split the K steps of a program.
  bool sharedTail = true;      ///< CTAs may split the programs of the last wave.

  /// Returns the transformations that both `*this` and `other` allow.
  KernelLimits operator&(const KernelLimits &other) const;
  bool operator==(const KernelLimits &) const = default;
};

struct GpuPipelineOptions {
  unsigned optLevel = 2;             ///< 0: correctness steps only; 1 and 2: every step.
  std::vector<std::string> disabled; ///< Names of optimisation steps to disable.
  KernelLimits limits = {};
  bool instrument = false; ///< Kernels are instrumented to record times.
  std::string startAfter;  ///< Skips all steps up to and including this one; empty: none.
  std::string stopAfter;   ///< Name of the last step to run; empty: all.
};

/// Properties of kernels that depend on the enabled steps, and that determine which blocks, warps and schedule are
/// fastest.
struct PipelineAbilities {
  bool mapsOfPointers; ///< Pointer accesses use tensor maps that the launcher encodes.
  bool fewConversions; ///< Tiles occupy no shared memory besides the slots of their ring.
  bool swappedDots;    ///< wgmma computes dots transposed if their row count is small or not a power of two.
  bool asyncCopies;    ///< Operands of mma.sync are copied by cp.async, bypassing registers.
  bool severalPrograms, sharedSteps, sharedTail; ///< As in KernelLimits.
  bool pingPong;                                 ///< Two teams of warps alternate.
};

struct PipelineStep {
  std::string name; ///< The pass's flag; a repeated pass has the same name each time.
  PassKind kind;
  bool onKernel;                                 ///< Runs on each tile.kernel; otherwise on the module.
  bool isAllowed;                                ///< The limits allow the step.
  std::vector<bool PipelineAbilities::*> serves; ///< The abilities that are lost if the step is disabled.
  std::function<std::unique_ptr<mlir::Pass>()> create;
};

/// Returns every step of the pipeline in order, before options are applied.
std::vector<PipelineStep> gpuPipelineSteps(const GpuPipelineOptions &options);

/// Returns the abilities of the pipeline with these options. No other function depends on the names of optimisations.
PipelineAbilities abilitiesOf(const GpuPipelineOptions &options, const target::GpuTarget &gpu);

/// Adds the steps that `options` select. Fails, calling `emitError`, if an option names no step, or tries to disable a
/// step that is needed for correctness.
mlir::LogicalResult buildGpuPipeline(mlir::OpPassManager &manager, const GpuPipelineOptions &options,
                                     llvm::function_ref<void(const std::string &)> emitError);

/// Registers every dialect that the compiler uses, with the translations to LLVM IR.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Registers every pass and `--tile-gpu-pipeline` for tile-opt.
void registerAllPasses();

} // namespace tile
