// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Results/Measurement.h"

#include <utility>

namespace tile::runner {

// The bits of nvmlClocksEventReasons (nvml.h).
constexpr std::pair<uint64_t, const char *> reasons[] = {{0x04, "power limit"},
                                                         {0x08, "hardware slowdown"},
                                                         {0x20, "heat"},
                                                         {0x40, "heat (hardware)"},
                                                         {0x80, "power brake"}};

std::string slowdownText(uint64_t slowdowns) {
  std::string text;
  for (const auto &[bit, reason] : reasons)
    if (slowdowns & bit)
      text += (text.empty() ? "" : ", ") + std::string(reason);
  return text;
}

const BaselineTime *BenchResult::baseline() const {
  for (const BaselineTime &other : baselines)
    if (!other.name.empty())
      return &other;
  return nullptr;
}

} // namespace tile::runner
