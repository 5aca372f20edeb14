// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans the number of stages of a loop that copies by cp.async.
//
//   planCopyStages(gpu, {.wanted = 3, .stageBytes = 32 << 10, .threads = 128})     // 2: a second CTA fits then
//
// cta-pipeline allocates this number of slots, and the cost model counts them.
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

struct CopyLoop {
  int64_t wanted;                  ///< stages that the kernel requests
  int64_t stageBytes;              ///< copied by one iteration
  int64_t otherBytes = 0;          ///< shared memory of the loop's other buffers
  int64_t threads = 128;           ///< per CTA
  bool multipliesByGroups = false; ///< whether wgmma computes the MMAs, which overlap with copies anyway
};

/// Returns the number of stages that the kernel requests, or fewer if the shared memory of a CTA does not hold that
/// many. Also returns one stage less if another CTA then fits on the multiprocessor, because that CTA's computation
/// hides more latency than one more copy in flight.
int64_t planCopyStages(const GpuTarget &gpu, const CopyLoop &loop);

} // namespace tile::target
