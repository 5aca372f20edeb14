// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows of tuned constants. All were measured on an H200; a target gets a separate row once its GPU is measured.
#include "Target/Tuned.h"

#include "Target/Card/CardTarget.h"

namespace tile::target {

static constexpr Tuned hopper;

const Tuned &tunedOf(const GpuTarget &gpu) {
  return gpu.card ? gpu.card->tuned : hopper;
}

bool isMeasured(const GpuTarget &gpu) {
  return gpu.card ? gpu.card->card.isMeasured() : gpu.capability == measuredTarget().capability;
}

const GpuTarget &measuredTarget() {
  return *findTarget("sm_90a");
}

std::vector<TunedConstant> listTuned(const GpuTarget &gpu) {
  const Tuned &row = tunedOf(gpu);
  std::vector<TunedConstant> constants;
  auto addSet = [&](const std::string &name, const GemmConstants &set, std::string_view measured) {
#define GEMM_CONSTANT(field, unit, meaning)                                                                            \
  constants.push_back({name + "." #field, unit, meaning, measured, set.field});
#include "Target/GemmConstants.def"
#undef GEMM_CONSTANT
  };
#define TUNED(type, name, value, unit, meaning, measured)                                                              \
  constants.push_back({#name, unit, meaning, measured, double(row.name)});
#define TUNED_GEMM(name, meaning, measured, ...) addSet(#name, row.name, measured);
#include "Target/Tuned.def"
#undef TUNED
#undef TUNED_GEMM
  for (TunedConstant &constant : constants)
    if (gpu.card)
      if (auto origin = gpu.card->origins.find(constant.name); origin != gpu.card->origins.end())
        constant.measured = origin->second;
  return constants;
}

} // namespace tile::target
