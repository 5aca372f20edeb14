// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of tuned constants. All were measured on an H200; a target gets a row of its own when its card is measured.
#include "Target/Tuned.h"

namespace tile::target {

static constexpr Tuned hopper;

const Tuned &tunedOf(const GpuTarget &) {
  return hopper;
}

bool isMeasured(const GpuTarget &gpu) {
  return gpu.capability == measuredTarget().capability;
}

const GpuTarget &measuredTarget() {
  return *findTarget("sm_90a");
}

std::vector<TunedConstant> listTuned(const GpuTarget &gpu) {
  const Tuned &row = tunedOf(gpu);
  return {
#define TUNED(type, name, value, unit, meaning, measured) {#name, unit, meaning, measured, double(row.name)},
#include "Target/Tuned.def"
#undef TUNED
  };
}

} // namespace tile::target
