// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources that a GEMM configuration takes after the passes. The functions of Plan/ that the passes use compute
// them.
//
//   GemmBudget budget = budgetOf(gpu, problem, config);
//   budget.slots           // 6: the kernel requests three stages, and no second CTA fits
#pragma once

#include "Target/CostModel.h"
#include "Target/Plan/Residency.h"
#include "Target/Plan/StorePanels.h"

namespace tile::target {

struct GemmBudget {
  unsigned slots = 0;      ///< slots of the ring that TMA fills, or of the buffers of cp.async; 0: no prefetch
  StorePanels panels = {}; ///< panels of c, if TMA stores it
  CtaUse use;              ///< resources of one CTA, without registers, which ptxas determines
};

GemmBudget budgetOf(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Returns the number of slots of the kernel's ring (Plan/RingSlots.h). This is more than the configuration's number of
/// stages if no second CTA fits, but at most as many as shared memory holds.
unsigned plannedSlots(const GpuTarget &target, const GemmProblem &problem, GemmConfig config);

} // namespace tile::target
