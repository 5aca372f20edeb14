// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the instruction and the arrangement of the warps; see MmaSync.h.
#include "Target/Engines/MmaSync.h"

#include <algorithm>
#include <limits>

namespace tile::target {

static bool isKnownToLayouts(const MmaInstruction &instruction) {
  return instruction.m == mmaSyncRows && instruction.n == mmaSyncColumns;
}

/// Returns the number of warps along M. The number along N is numWarps divided by this number.
static unsigned chooseWarpsM(const MmaSyncDot &dot) {
  unsigned best = 1;
  int64_t bestCost = std::numeric_limits<int64_t>::max();
  for (unsigned warpsM = 1; warpsM <= dot.numWarps; warpsM *= 2) {
    int64_t tileM = std::max<int64_t>(dot.m / warpsM, mmaSyncRows);
    int64_t tileN = std::max<int64_t>(dot.n / (dot.numWarps / warpsM), mmaSyncColumns);
    // The number of operand elements that the CTA reads per k: each warp reads its rows of A and its columns of B.
    int64_t cost = (tileM + tileN) * dot.numWarps;
    if (cost < bestCost || (cost == bestCost && dot.isChained)) {
      best = warpsM;
      bestCost = cost;
    }
  }
  return best;
}

/// Returns true for the block-scaled instructions that read 32 bytes along k (PTX ISA, "mma").
static bool isScaledInstruction(const GpuTarget &target, MmaType a, MmaType b, MmaType accumulator, unsigned k,
                                unsigned scaleGroup) {
  return target.has(Feature::ScaledMma) && accumulator == MmaType::F32 && k == 8 * mmaSyncBytesK / mmaTypeBits(a) &&
         takesScales(a, b, scaleGroup);
}

std::string scaledMmaSuffix(MmaType a, MmaType b, unsigned scaleGroup) {
  std::string types = ".f32." + std::string(mmaTypeName(a)) + "." + std::string(mmaTypeName(b)) + ".f32.";
  if (scaleGroup == floatScaleGroup)
    return ".kind::mxf4nvf4.block_scale.scale_vec::4X" + types + "ue4m3";
  return (a == MmaType::F4E2M1 ? ".kind::mxf4.block_scale.scale_vec::2X"
                               : ".kind::mxf8f6f4.block_scale.scale_vec::1X") +
         types + "ue8m0";
}

std::optional<MmaSyncPlan> planMmaSync(const GpuTarget &target, const MmaSyncDot &dot) {
  MmaSyncPlan plan;
  if (dot.scaleGroup) {
    unsigned k = 8 * mmaSyncBytesK / mmaTypeBits(dot.a);
    if (isScaledInstruction(target, dot.a, dot.b, dot.accumulator, k, dot.scaleGroup) && k <= dot.k)
      plan.k = k;
  } else {
    for (const MmaInstruction *candidate : mmaInstructions(target, dot.a, dot.b, dot.accumulator))
      // The block must hold at least one K step.
      if (isKnownToLayouts(*candidate) && candidate->k <= dot.k)
        plan.k = candidate->k;
  }
  if (plan.k == 0)
    return std::nullopt;
  plan.warpsM = chooseWarpsM(dot);
  plan.warpsN = dot.numWarps / plan.warpsM;
  return plan;
}

bool isMmaSyncInstruction(const GpuTarget &target, MmaType a, MmaType b, MmaType accumulator, unsigned k,
                          unsigned scaleGroup) {
  if (scaleGroup)
    return isScaledInstruction(target, a, b, accumulator, k, scaleGroup);
  std::vector<const MmaInstruction *> found = mmaInstructions(target, a, b, accumulator);
  return std::any_of(found.begin(), found.end(), [&](const MmaInstruction *instruction) {
    return isKnownToLayouts(*instruction) && instruction->k == k;
  });
}

std::string_view whyMmaSyncWastes(const MmaSyncDot &dot) {
  if (dot.k * mmaTypeBits(dot.a) < 8 * mmaSyncBytesK)
    return "a K step is shorter than an instruction";
  if (dot.m < mmaSyncRows || dot.n < mmaSyncColumns)
    return "a tile is smaller than an instruction";
  if (dot.m * dot.n < int64_t(mmaSyncRows) * mmaSyncColumns * dot.numWarps)
    return "a warp has nothing to multiply";
  return "";
}

} // namespace tile::target
