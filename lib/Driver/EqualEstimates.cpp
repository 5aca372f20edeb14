// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Estimates the times of calls with several sizes, as a launch does.
#include "Driver/EqualEstimates.h"

#include "Runtime/Choice.h"
#include "Target/Card/CardTarget.h"
#include "Target/GpuTarget.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <map>
#include <set>

namespace tile::driver {
namespace {

/// Relative difference below which estimates are treated as equal. One more operation per element of a copy kernel
/// changes an estimate by 0.001 to 0.003, while the model's error is about 0.1.
constexpr double tolerance = 0.005;

/// Returns sample values for the parameters: all integers have the same size, or one of them is larger than the others.
std::vector<std::vector<uint64_t>> sampleCalls(const runtime::Manifest &manifest) {
  constexpr uint64_t address = uint64_t(1) << 40, small = 512, large = 1 << 16;
  auto callOf = [&](uint64_t size) {
    std::vector<uint64_t> values;
    for (const runtime::Parameter &parameter : manifest.parameters)
      values.push_back(parameter.isPointer ? address : parameter.isInteger() ? size : 0);
    return values;
  };
  std::vector<std::vector<uint64_t>> calls;
  for (uint64_t size : {1, 16, 128, 1024, 8192, 1 << 16, 1 << 20})
    calls.push_back(callOf(size));
  for (auto [index, parameter] : llvm::enumerate(manifest.parameters)) {
    if (!parameter.isInteger())
      continue;
    calls.push_back(callOf(small));
    calls.back()[index] = large;
  }
  return calls;
}

} // namespace

size_t countEqualEstimates(llvm::ArrayRef<MadeVariant> made) {
  std::vector<const runtime::Manifest *> manifests;
  std::vector<size_t> configurations; // the configuration of each manifest
  for (const MadeVariant &variant : made) {
    const runtime::Manifest &manifest = variant.packed.manifest;
    if (manifest.target != made.front().packed.manifest.target)
      continue;
    if (variant.hasCondition)
      return 0;
    manifests.push_back(&manifest);
    configurations.push_back(variant.configuration);
  }
  size_t number = std::set<size_t>(configurations.begin(), configurations.end()).size();
  if (number < 2)
    return 0;
  runtime::Result<runtime::Chooser> chooser = runtime::Chooser::make(manifests);
  const target::GpuTarget *gpu = target::findTarget(manifests.front()->target, manifests.front()->card);
  if (!chooser || !gpu)
    return 0;
  const runtime::DeviceVariants device = chooser->onTarget(gpu->name, int(gpu->numSms));
  bool isAnyKnown = false;
  for (std::vector<uint64_t> &values : sampleCalls(*manifests.front())) {
    std::vector<void *> arguments;
    for (uint64_t &value : values)
      arguments.push_back(&value);
    std::map<size_t, double> times; // time of the fastest variant of each configuration
    for (auto [index, configuration] : llvm::enumerate(configurations)) {
      double time = chooser->estimate(index, {arguments.data(), nullptr}, device);
      auto [entry, isNew] = times.try_emplace(configuration, time);
      if (!isNew)
        entry->second = std::min(entry->second, time);
    }
    double first = times.begin()->second;
    if (llvm::any_of(times, [&](const auto &entry) { return std::abs(entry.second - first) > tolerance * first; }))
      return 0;
    isAnyKnown |= first >= 0;
  }
  return isAnyKnown ? number : 0;
}

} // namespace tile::driver
