// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many stages a loop's copies by cp.async run through.
//
//   planCopyStages(gpu, {.wanted = 3, .stageBytes = 32 << 10, .threads = 128})     // 2: a second CTA fits then
//
// cta-pipeline makes as many slots, and the cost model prices them.
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

struct CopyLoop {
  int64_t wanted;                  ///< stages that the kernel asks for
  int64_t stageBytes;              ///< of all that an iteration copies
  int64_t otherBytes = 0;          ///< what else the loop uses of shared memory
  int64_t threads = 128;           ///< of a CTA
  bool multipliesByGroups = false; ///< wgmma: MMAs overlap with copies anyway
};

/// Stages that the kernel asks for, or fewer if the shared memory of a CTA does not hold them. One less, too, where
/// another CTA fits then: what it computes hides more than one more copy in flight.
int64_t planCopyStages(const GpuTarget &gpu, const CopyLoop &loop);

} // namespace tile::target
