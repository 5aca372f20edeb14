// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many CTAs of a cluster share the K steps of each tile (cta-share-steps), once the tile is chosen.
#pragma once

#include "Target/CostModel.h"

namespace tile::target {

/// Whether `ctas` can share the steps of such tiles: sums have a place in registers, and, from each of the others, in
/// shared memory.
bool canSplitSteps(const GpuTarget &target, const GemmProblem &problem, GemmConfig config, unsigned ctas);

/// 1, 2 or 4: more than one where few tiles have many steps. The CTAs must run at the same time, and what they gain
/// must pay for meeting and for moving sums; memory gives no faster than before.
unsigned chooseStepSplit(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &estimate);

/// us that CTAs of a cluster take to meet and to add up their accumulators of a tile.
double meetingTime(const GpuTarget &target, const GemmConfig &config, unsigned ctas);

/// CTAs of clusters of `ctas` that run at the same time where each has a multiprocessor.
unsigned residentCtas(unsigned ctas, unsigned numSms);

} // namespace tile::target
