// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decides how many CTAs of a cluster split the K steps of each tile (cta-share-steps), once the tile is chosen.
#pragma once

#include "Target/CostModel.h"

namespace tile::target {

/// Returns true if `ctas` CTAs can split the K steps of such tiles: accumulators fit in registers, and those of the
/// other CTAs in shared memory.
bool canSplitSteps(const GpuTarget &target, const GemmProblem &problem, GemmConfig config, unsigned ctas);

/// Returns 1, 2 or 4: more than one if few tiles have many steps. The CTAs must run at the same time, and the gain must
/// exceed the cost of synchronizing and of moving accumulators; the bandwidth of memory does not change.
unsigned chooseStepSplit(const GpuTarget &target, const GemmProblem &problem, const GemmEstimate &estimate);

/// Returns the us in which the CTAs of a cluster synchronize and reduce their accumulators of a tile.
double clusterTime(const GpuTarget &target, const GemmConfig &config, unsigned ctas);

/// Returns the CTAs of clusters of `ctas` that run at the same time with one CTA per multiprocessor.
unsigned residentCtas(unsigned ctas, unsigned numSms);

} // namespace tile::target
