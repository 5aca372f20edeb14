// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives alternatives by applying each change to each plan. A change may have no effect on the code; such alternatives
// are dropped after compilation.
#include "Driver/Alternatives.h"

#include "Target/Limits.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <utility>

using llvm::formatv;

namespace tile::driver {
namespace {

/// Changes a plan and returns the name of the change. Returns "" if the plan cannot be changed in this way.
using Change = std::function<std::string(VariantPlan &)>;

constexpr unsigned maxChanges = 4; // per variant
constexpr unsigned maxWarps = target::maxThreadsPerCta / target::threadsPerWarp;

/// Multiplies the number of warps by `numerator / denominator`.
Change scaleWarps(unsigned numerator, unsigned denominator) {
  return [=](VariantPlan &plan) -> std::string {
    unsigned warps = plan.warps * numerator / denominator;
    if (plan.tiles || plan.warps % denominator != 0 || warps == 0 || warps > maxWarps)
      return "";
    plan.numWarps = plan.warps = warps;
    return formatv("warps.{0}", warps);
  };
}

Change addStages(int number) {
  return [=](VariantPlan &plan) -> std::string {
    int stages = (plan.tiles && plan.tiles->numStages ? int(*plan.tiles->numStages) : int(plan.stages)) + number;
    if (plan.stages == 0 || stages < 1 || stages > int(target::maxStages))
      return "";
    if (plan.tiles)
      plan.tiles->numStages = stages;
    else
      plan.numStages = plan.stages = stages;
    return formatv("stages.{0}", stages);
  };
}

Change disable(llvm::StringRef pass) {
  return [=](VariantPlan &plan) -> std::string {
    if (llvm::is_contained(plan.disabled, pass))
      return "";
    plan.disabled.push_back(pass.str());
    return formatv("no-{0}", pass.split('-').second); // without the name of the dialect
  };
}

/// Requests so many CTAs per multiprocessor that they have `warps` warps in total; 0: requests no number.
Change requestWarps(unsigned warps, const target::GpuTarget &gpu) {
  return [=, most = gpu.maxWarpsPerSm](VariantPlan &plan) -> std::string {
    if (plan.tiles || warps > most || (warps > 0 && (plan.warps == 0 || warps % plan.warps != 0)))
      return "";
    plan.residentCtas = warps == 0 ? 0 : warps / plan.warps;
    return formatv("ctas.{0}", *plan.residentCtas);
  };
}

/// Returns the changes, ordered by how often they made kernels of public libraries faster, most often first
/// (bench/results/h200/public-launches.md).
std::vector<Change> listChanges(const target::GpuTarget &gpu) {
  return {scaleWarps(2, 1),          scaleWarps(1, 2),       disable("cta-async-copies"),
          requestWarps(0, gpu),      requestWarps(4, gpu),   requestWarps(8, gpu),
          requestWarps(16, gpu),     requestWarps(32, gpu),  requestWarps(24, gpu),
          requestWarps(48, gpu),     requestWarps(64, gpu),  disable("tile-raise-descriptors"),
          disable("cta-load-ahead"), addStages(-1),          addStages(1),
          scaleWarps(1, 4),          scaleWarps(4, 1),       disable("cta-specialize-warps"),
          disable("cta-keep-rows"),  disable("cta-pipeline")};
}

} // namespace

void appendAlternatives(VariantPlans &plans, const target::GpuTarget &gpu,
                        llvm::function_ref<bool(llvm::StringRef)> isWanted,
                        llvm::function_ref<bool(llvm::StringRef)> hasOthers) {
  const std::vector<Change> changes = listChanges(gpu);
  std::vector<VariantPlan> changed = plans.plans, next;
  size_t number = 0;
  for (unsigned depth = 0; depth < maxChanges && !changed.empty(); ++depth, changed = std::exchange(next, {}))
    for (const Change &change : changes)
      for (const VariantPlan &plan : changed) {
        VariantPlan alternative = plan;
        std::string name = change(alternative);
        alternative.name = plan.name + "+" + name;
        if (name.empty() || plan.isFallback)
          continue;
        if (hasOthers(alternative.name))
          next.push_back(alternative);
        if (!isWanted(alternative.name))
          continue;
        if (++number > maxAlternatives)
          return;
        alternative.isAlternative = true;
        alternative.isNeeded = false;
        alternative.why = "for tile-run tune";
        plans.plans.push_back(std::move(alternative));
      }
}

} // namespace tile::driver
