// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The target table: one line per target. test/unit/Target checks the columns.
#include "Target/GpuTarget.h"

namespace tile::target {
namespace {

constexpr uint32_t turing = uint32_t(Feature::LdMatrix);
constexpr uint32_t ampere = turing | Feature::AsyncCopy | Feature::BF16Arithmetic | Feature::TF32 | Feature::Redux;
constexpr uint32_t ada = ampere | Feature::FP8Conversion;
constexpr uint32_t hopper = ada | Feature::StMatrix | Feature::Clusters | Feature::Tma | Feature::GridDependency;
constexpr uint32_t gamingBlackwell = hopper | Feature::SetMaxRegisters | Feature::ScaledMma;
constexpr uint32_t datacenterBlackwell = hopper | Feature::SetMaxRegisters | Feature::Tcgen05;

// PTX versions: 8.4 is the first with fp8 mma.sync, 8.6 the first with TMA loads into shared::cta, 8.7 the first with
// sm_120, 8.8 the first with sm_100f and sm_103a, and 9.0 the first with sm_110a. LLVM 22 supports versions up to 9.0,
// and aborts on a version that is too low for its target. Code for sm_100f runs on all GPUs of its family.
constexpr GpuTarget targetTable[] = {
    // name, capability, PTX, bytes/CTA, bytes/SM, warps/SM, CTAs/SM, SMs, features, GPU
    {"sm_75", 75, 80, 65536, 65536, 32, 16, 40, turing, "T4"},
    {"sm_80", 80, 80, 166912, 167936, 64, 32, 108, ampere, "A100"},
    {"sm_86", 86, 80, 101376, 102400, 48, 16, 82, ampere, "RTX 3090"},
    {"sm_87", 87, 80, 166912, 167936, 48, 16, 16, ampere, "Jetson AGX Orin"},
    {"sm_89", 89, 84, 101376, 102400, 48, 24, 128, ada, "RTX 4090"},
    {"sm_90", 90, 87, 232448, 233472, 64, 32, 132, hopper, "H100"},
    {"sm_90a", 90, 87, 232448, 233472, 64, 32, 132, hopper | Feature::SetMaxRegisters | Feature::Wgmma, "H100, H200"},
    {"sm_100a", 100, 88, 232448, 233472, 64, 32, 148, datacenterBlackwell | Feature::Tcgen05Integers, "B200"},
    {"sm_100f", 100, 88, 232448, 233472, 64, 32, 148, datacenterBlackwell, "B200, B300"},
    {"sm_103a", 103, 88, 232448, 233472, 64, 32, 160, datacenterBlackwell, "B300"},
    {"sm_110a", 110, 90, 232448, 233472, 48, 24, 20, datacenterBlackwell | Feature::Tcgen05Integers, "Jetson Thor"},
    {"sm_120", 120, 88, 101376, 102400, 48, 24, 170, hopper, "RTX 5090"},
    {"sm_120a", 120, 88, 101376, 102400, 48, 24, 170, gamingBlackwell, "RTX 5090"},
    {"sm_121a", 121, 88, 101376, 102400, 48, 24, 48, gamingBlackwell, "DGX Spark"},
};

} // namespace

const GpuTarget *findTarget(std::string_view name) {
  for (const GpuTarget &target : targetTable)
    if (target.name == name)
      return &target;
  return nullptr;
}

const GpuTarget *findTargetOf(unsigned capability) {
  const GpuTarget *found = nullptr;
  for (const GpuTarget &target : targetTable) {
    const char suffix = target.name.back();
    if (target.capability == capability && suffix != 'f')
      found = &target; // the row whose name has a letter comes last
    if (target.capability < capability && suffix != 'a' && suffix != 'f')
      found = &target;
  }
  return found;
}

std::vector<const GpuTarget *> allTargets() {
  std::vector<const GpuTarget *> targets;
  for (const GpuTarget &target : targetTable)
    targets.push_back(&target);
  return targets;
}

std::string listTargets() {
  std::string text;
  for (const GpuTarget &target : targetTable) {
    if (!text.empty())
      text += ", ";
    text += target.name;
  }
  return text;
}

} // namespace tile::target
