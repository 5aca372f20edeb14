// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels an artifact gets: what each promises, and which blocks, warps and schedule it has.
//
//   VariantPlans plans = planVariants(options, *findTarget("sm_90a"), VariantMode::Auto);
//   for (const VariantPlan &plan : plans.plans)
//     compile(withPlan(options, plan));
//
// Nothing is compiled here: the front end says what the kernel leaves open and what would widen its accesses
// (PromiseClasses.h), the cost model what pays (Target/KernelSet.h). The plans depend on nothing but the options, the
// target and the files that these name.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Driver/VariantMode.h"
#include "Runtime/Cost.h"
#include "Runtime/ProgramsCost.h"
#include "Target/GpuTarget.h"

namespace tile::driver {

struct VariantPlan {
  std::string name;                            ///< unique among the plans: "general", "aligned-128x256x64"
  std::map<std::string, int> assumptions = {}; ///< beside the options': divisors of parameters
  std::map<std::string, std::string> definitions =
      {}; ///< beside the options': strides of 1, a configuration's constants
  /// What the kernel leaves open; nothing where the compilation chooses by the options' sizes.
  std::optional<frontend::TileChoices> tiles = {};
  std::optional<int> numWarps = {}, numStages = {};   ///< of a configuration; else the options'
  KernelLimits limits = {};                           ///< beside the options'
  std::optional<runtime::CostSpec> cost = {};         ///< of a product: how long a call is expected to take
  std::optional<runtime::ProgramsCost> programs = {}; ///< of others: what each program does
  std::vector<std::string> requirements = {};         ///< conditions of the calls that it serves
  std::string why;                                    ///< one line
};

/// At least one plan. The first, "general", promises nothing that the options do not: it takes every call that a kernel
/// compiled by these options alone takes. The others come in the order of what they gain, so that who has too little
/// room leaves out the last.
struct VariantPlans {
  std::vector<VariantPlan> plans = {};
  std::string explanation = {}; ///< for --explain-config
  std::string kernel = {};      ///< its name
  size_t untimed = 0;           ///< configurations among which nothing but measurements can choose
};

/// Never fails: if the front end rejects the kernel, there is one plan, whose compilation says why.
VariantPlans planVariants(const CompilerOptions &options, const target::GpuTarget &gpu, VariantMode mode);

/// Why an alternative of -D cannot be a variant: it is of a run-time parameter, or the front end rejects the kernel
/// with it. Empty: it can.
std::string explainBadAlternative(const CompilerOptions &options, const target::GpuTarget &gpu);

/// What to compile for a plan.
CompilerOptions withPlan(const CompilerOptions &options, const VariantPlan &plan);

} // namespace tile::driver
