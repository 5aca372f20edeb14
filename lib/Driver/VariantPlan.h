// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the kernels of an artifact: the assumptions, blocks, warps and schedule of each.
//
//   VariantPlans plans = planVariants(options, *findTarget("sm_90a"), VariantMode::Auto);
//   for (const VariantPlan &plan : plans.plans)
//     compile(withPlan(options, plan));
//
// Planning compiles nothing. The front end reports the open parameters and the assumptions that would widen accesses
// (PromiseClasses.h), and the cost model determines what pays (Target/KernelSet.h). The plans depend only on the
// options, the target and the files that the options name.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Driver/VariantMode.h"
#include "Runtime/Cost.h"
#include "Runtime/ProgramsCost.h"
#include "Target/GpuTarget.h"

namespace tile::driver {

struct VariantPlan {
  std::string name;                            ///< unique among the plans: "general", "aligned-128x256x64"
  std::map<std::string, int> assumptions = {}; ///< in addition to the options': divisors of parameters
  std::map<std::string, std::string> definitions =
      {}; ///< in addition to the options': strides of 1, a configuration's constants
  /// Values of open parameters; nullopt where the compilation chooses by the options' sizes.
  std::optional<frontend::TileChoices> tiles = {};
  std::optional<int> numWarps = {}, numStages = {};   ///< set by a configuration; nullopt: as in the options
  std::optional<unsigned> residentCtas = {};          ///< CTAs per multiprocessor, as in the options
  std::vector<std::string> disabled = {};             ///< optimisations, in addition to those disabled by the options
  KernelLimits limits = {};                           ///< in addition to those of the options
  std::optional<runtime::CostSpec> cost = {};         ///< for GEMMs: expected time of a call
  std::optional<runtime::ProgramsCost> programs = {}; ///< for other kernels: work of each program
  std::vector<std::string> requirements = {};         ///< conditions of the calls that the variant serves
  size_t configuration = 0;                           ///< index of the variant's set of constants
  /// Serves only calls that no other variant serves, because its configuration is meant for others.
  bool isFallback = false;
  bool isNeeded = false;      ///< some calls are served by no earlier plan, so no limit may drop this one
  bool isAlternative = false; ///< another schedule of an earlier plan, for tile-run tune
  /// Warps of a program and stages of its loops as the front end emits them; 0: unknown.
  unsigned warps = 0, stages = 0;
  std::string why; ///< the variant's purpose, in one line
};

/// At least one plan. The first one, "general", makes no assumptions beyond the options, so it serves every call that a
/// kernel compiled with only these options serves. Plans that serve further calls follow it. The remaining plans are
/// ordered by their benefit, so that the last ones can be dropped for lack of space.
struct VariantPlans {
  std::vector<VariantPlan> plans = {};
  std::string explanation = {}; ///< for --explain-config
  std::string kernel = {};      ///< the name of the kernel
  /// Constants of the configurations, for CompilerOptions.
  std::vector<std::map<std::string, std::string>> configurations = {};
  size_t untimed = 0; ///< configurations that only measurements can rank
};

/// Plans the variants. Never fails: if the front end rejects the kernel, there is one plan, whose compilation reports
/// why.
VariantPlans planVariants(const CompilerOptions &options, const target::GpuTarget &gpu, VariantMode mode);

/// Returns the reason why a value of -D cannot be used for a variant: its name is a run-time parameter, or the front
/// end rejects the kernel with it. Returns "" if all values can be used.
std::string explainBadAlternative(const CompilerOptions &options, const target::GpuTarget &gpu);

/// Returns the options with which to compile a plan.
CompilerOptions withPlan(const CompilerOptions &options, const VariantPlan &plan);

} // namespace tile::driver
