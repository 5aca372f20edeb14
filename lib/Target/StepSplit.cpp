// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses between whole and split tiles; CostModel.md has the times on which the choice is based.
#include "Target/StepSplit.h"

#include "Target/GemmTime.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tile::target {

double clusterTime(const GpuTarget &target, const GemmConfig &config, unsigned ctas) {
  constexpr double exchangedElements = 64 * 64;
  const Tuned &tuned = tunedOf(target);
  return tuned.clusterTime + tuned.exchangeTime * config.blockM * config.blockN / exchangedElements * (ctas - 1);
}

/// Returns the number of CTAs that run at the same time. Clusters of four CTAs cannot use all multiprocessors: 128 CTAs
/// on 132 multiprocessors took two waves on an H200.
unsigned residentCtas(unsigned ctas, unsigned numSms) {
  return std::max(ctas > 2 ? numSms * 3 / 4 : numSms, ctas);
}

bool canSplitSteps(const GpuTarget &target, const GemmProblem &problem, GemmConfig config, unsigned ctas) {
  // If operands pass through registers, 808x577x14651 takes 461 us with 64x128x32, but 199 us with 64x64.
  if (!config.wgmma && !problem.asyncCopies && registersOfStep(problem, config) > tunedOf(target).splitRegisters)
    return false;
  // Each element of a thread's accumulator needs a slot; tiles that are not a power of two leave registers unused.
  bool isWhole = std::has_single_bit(config.blockM) && std::has_single_bit(config.blockN);
  if (!target.has(Feature::Clusters) || !isWhole)
    return false;
  // Shared memory must hold a copy of the tile's accumulator for each sender, in addition to the stages, of which four
  // suffice.
  config.numStages = std::min(config.numStages, 4u);
  int64_t exchanged = int64_t(ctas - 1) * config.blockM * config.blockN * 4;
  return sharedBytes(problem, config) + exchanged <= target.maxSharedPerCta;
}

unsigned chooseStepSplit(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &estimate) {
  const Tuned &tuned = tunedOf(target);
  // If there are fewer steps, most of them are in flight at the same time anyway, so a cluster would only add cost.
  if (problem.k < tuned.splitSteps * estimate.config.blockK)
    return 1;
  // The pass cta-share-steps splits the last wave over all multiprocessors.
  bool isSplit = estimate.waves != std::floor(estimate.waves);
  double best = estimate.microseconds;
  unsigned chosen = 1;
  for (unsigned ctas : {2u, 4u}) {
    bool runs = estimate.tiles * ctas <= residentCtas(ctas, problem.multiprocessors(target));
    if (isSplit || !runs || !estimate.config.wgmma || estimate.config.blockM < tuned.splitRows ||
        !canSplitSteps(target, problem, estimate.config, ctas))
      continue;
    GemmEstimate parts = GemmFormula::of(target, problem, estimate.config, ctas).estimate(problem.size());
    // Whole tiles that all run at the same time are not persistent.
    double time = parts.microseconds + tuned.persistence + clusterTime(target, estimate.config, ctas);
    if (time < best) {
      best = time;
      chosen = ctas;
    }
  }
  return chosen;
}

} // namespace tile::target
