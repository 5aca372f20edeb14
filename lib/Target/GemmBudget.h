// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the passes make of a configuration of a GEMM, by the plans that they obey (Plan/).
//
//   GemmBudget budget = budgetOf(gpu, problem, config);
//   budget.slots           // 6: of a kernel that asks for three stages, and is alone on its multiprocessor
//
// test/unit/Driver/ModelledBudgetTest.cpp compares it with compiled kernels.
#pragma once

#include "Target/CostModel.h"
#include "Target/Plan/Residency.h"
#include "Target/Plan/StorePanels.h"

namespace tile::target {

struct GemmBudget {
  unsigned slots = 0;      ///< of the ring that TMA fills, or of the buffers of cp.async; 0: no copies run ahead
  StorePanels panels = {}; ///< of c, where TMA stores it
  CtaUse use;              ///< of the kernel's CTAs; registers are ptxas's
};

GemmBudget budgetOf(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config);

/// Slots of the ring of a kernel that asks for the configuration's stages (Plan/RingSlots.h): more where no second CTA
/// fits, and no more than shared memory holds.
unsigned plannedSlots(const GpuTarget &target, const GemmProblem &problem, GemmConfig config);

} // namespace tile::target
