// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements CopyStages.h.
#include "Target/Plan/CopyStages.h"

#include "Target/Plan/Residency.h"
#include "Target/Tuned.h"

#include <algorithm>

namespace tile::target {

int64_t planCopyStages(const GpuTarget &gpu, const CopyLoop &loop) {
  if (loop.stageBytes == 0)
    return 0;
  int64_t room = std::max<int64_t>(0, gpu.maxSharedPerCta - loop.otherBytes);
  int64_t stages = std::min(loop.wanted, room / loop.stageBytes);
  auto ctas = [&](int64_t stages) {
    return planResidency(gpu, {.threads = loop.threads,
                               .registers = tunedOf(gpu).registersOfMmaSync,
                               .sharedBytes = stages * loop.stageBytes + loop.otherBytes})
        .ctas();
  };
  return stages > 2 && !loop.multipliesByGroups && ctas(stages - 1) > ctas(stages) ? stages - 1 : stages;
}

} // namespace tile::target
