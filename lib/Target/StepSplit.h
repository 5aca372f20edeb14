// How many CTAs of a cluster share the K steps of each tile (cta-split-steps), once the tile is chosen.
#pragma once

#include "Target/CostModel.h"

namespace tile::target {

/// Whether `ctas` can share the steps of such tiles: sums have a place in registers, and, from each of the others, in
/// shared memory.
bool canSplitSteps(const GpuTarget &target, const GemmProblem &problem, GemmConfig config, unsigned ctas);

/// 1, 2 or 4: more than one where few tiles have many steps. The CTAs must run at the same time, and what they gain
/// must pay for meeting and for moving sums; memory gives no faster than before.
unsigned chooseStepSplit(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &estimate);

/// What `ctas` of them are expected to take. Clusters that do not run at the same time come one after another.
class StepSplitFormula {
public:
  StepSplitFormula(const GpuTarget &target, const GemmProblem &problem, const GemmConfig &config, unsigned ctas);

  /// In microseconds, for a product whose whole tiles, without split tails, take `wholeTime`.
  double time(double wholeTime, double waves, int64_t tiles, const GemmSize &size) const;

private:
  int64_t ctas, resident;
  double elementBytes, outputBytes;
  double meetings; ///< us of a round in which nothing is multiplied
};

} // namespace tile::target
