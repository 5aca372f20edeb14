// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides how many CTAs of a cluster split the K steps of each tile (cta-share-steps), once the tile is chosen.
#pragma once

#include "Target/CostModel.h"

namespace tile::target {

/// Returns true if `ctas` CTAs can split the K steps of tiles of this configuration: the accumulators fit in registers,
/// and the accumulators of the other CTAs fit in shared memory.
bool canSplitSteps(const GpuTarget &target, const GemmProblem &problem, GemmConfig config, unsigned ctas);

/// Returns the number of CTAs that should split each tile: 1, 2 or 4. The number is greater than one if there are few
/// tiles with many K steps. The CTAs must run at the same time, and the gain must exceed the cost of synchronizing and
/// of moving accumulators. Splitting does not help if memory bandwidth is the bottleneck.
unsigned chooseStepSplit(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &estimate);

/// Returns the time in us that the CTAs of a cluster take to synchronize and to add up their accumulators of a tile.
double clusterTime(const GpuTarget &target, const GemmConfig &config, unsigned ctas);

/// Returns how many CTAs run at the same time, with one CTA per multiprocessor, if they form clusters of `ctas` CTAs.
unsigned residentCtas(unsigned ctas, unsigned numSms);

} // namespace tile::target
