// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the budget with the functions of lib/Target/Plan; see GemmBudget.h.
#include "Target/GemmBudget.h"

#include "Target/Engines/Wgmma.h"
#include "Target/Plan/CopyStages.h"
#include "Target/Plan/RingSlots.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/SharedMemory.h"

namespace tile::target {

static int64_t threadsOf(const GemmConfig &config) {
  return int64_t(config.numWarps) * threadsPerWarp;
}

unsigned plannedSlots(const GpuTarget &target, const GemmProblem &problem, GemmConfig config) {
  config.numStages = chooseSlots(target, config.numStages,
                                 {config.numWarps, int64_t(config.blockM) * config.blockN / threadsOf(config),
                                  sharedBytes(problem, config) - sharedAlignment});
  while (config.numStages > 1 && sharedBytes(problem, config) > target.maxSharedPerCta)
    --config.numStages;
  return config.numStages;
}

GemmBudget budgetOf(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config) {
  GemmBudget budget;
  GemmConfig made = config;
  budget.use.threads = threadsOf(config);
  if (config.wgmma) {
    budget.slots = made.numStages = plannedSlots(target, problem, config);
    if (!problem.plainStores)
      budget.panels = planStorePanels(wgmmaTile(config).columns, widestSwizzle / problem.outputBytes);
    budget.use.threads +=
        int64_t(countProducerWarps(planRoleRegisters(target, config.numWarps).has_value())) * threadsPerWarp;
    budget.use.sharedBytes = sharedBytes(problem, made) - sharedAlignment;
    return budget;
  }
  made.numStages = 1;
  if (problem.asyncCopies)
    budget.slots =
        unsigned(planCopyStages(target, {.wanted = config.numStages,
                                         .stageBytes = sharedBytes(problem, made),
                                         .threads = budget.use.threads,
                                         .multipliesByGroups = multipliesByWarpGroups(target, problem, config)}));
  budget.use.sharedBytes = std::max(1u, budget.slots) * sharedBytes(problem, made);
  return budget;
}

} // namespace tile::target
