// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dispatches to the engine of the target; see BufferEngines.h.
#include "Target/Engines/BufferEngines.h"

#include "Target/Engines/Tcgen05.h"

namespace tile::target {

bool hasBufferEngine(const GpuTarget &target) {
  return target.has(Feature::Wgmma) || target.has(Feature::Tcgen05);
}

std::string_view nameOfBufferEngine(const GpuTarget &target) {
  return target.has(Feature::Tcgen05) ? "tcgen05" : "wgmma";
}

BufferEngineResult planBufferEngine(const GpuTarget &target, const WgmmaDot &dot) {
  if (target.has(Feature::Tcgen05)) {
    Tcgen05Result result = planTcgen05(target, dot);
    return {result.plan.has_value(), 1, std::move(result.reason)};
  }
  WgmmaResult result = planWgmma(target, dot);
  return {result.plan.has_value(), result.plan ? result.plan->groupsN : 1, std::move(result.reason)};
}

std::string whyNoBufferEngine(const GpuTarget &target, const WgmmaDot &dot) {
  return target.has(Feature::Tcgen05) ? whyNoTcgen05(target, dot) : whyNoWgmma(target, dot);
}

} // namespace tile::target
