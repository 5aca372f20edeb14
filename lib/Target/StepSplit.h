// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides how many CTAs of a cluster split the K steps of each tile (cta-share-steps), once the tile is chosen.
#pragma once

#include "Target/CostModel.h"

namespace tile::target {

/// Returns true if `ctas` CTAs can split the K steps of tiles of this configuration: accumulators fit in registers, and
/// those of the other CTAs in shared memory.
bool canSplitSteps(const GpuTarget &target, const GemmProblem &problem, GemmConfig config, unsigned ctas);

/// Returns 1, 2 or 4: more than one if few tiles have many steps. The CTAs must run at the same time, and the gain must
/// exceed the cost of synchronizing and of moving accumulators. Splitting does not help if memory bandwidth is the
/// bottleneck.
unsigned chooseStepSplit(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &estimate);

/// Returns the us that the CTAs of a cluster take to synchronize and to reduce their accumulators of a tile.
double clusterTime(const GpuTarget &target, const GemmConfig &config, unsigned ctas);

/// Returns the number of CTAs in clusters of `ctas` that run at the same time with one CTA per multiprocessor.
unsigned residentCtas(unsigned ctas, unsigned numSms);

} // namespace tile::target
