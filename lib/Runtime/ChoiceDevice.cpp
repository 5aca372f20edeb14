// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates the variants for a device: those that run there, ranked by the specificity of their targets, and their time
// models.
#include "Runtime/Choice.h"
#include "Runtime/ChoiceMemo.h"
#include "Runtime/Target.h"
#include "Target/Card/CardTarget.h"

#include <algorithm>
#include <atomic>
#include <set>

namespace tile::runtime {
namespace {

uint64_t nextNumber() {
  static std::atomic<uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// Returns a larger rank for a more specific target: architecture-specific code, family-specific code, then the highest
/// version. Fallbacks rank below all other variants, whatever their targets. Never returns 0.
uint32_t rankOf(const Target &target, bool isFallback) {
  const uint32_t suffix = target.suffix == 'a' ? 2 : target.suffix == 'f' ? 1 : 0;
  return static_cast<uint32_t>(!isFallback) << 24 | suffix << 16 |
         static_cast<uint32_t>(target.major * 10 + target.minor + 1);
}

} // namespace

DeviceVariants Chooser::makeDevice(int multiprocessors, std::shared_ptr<const TunedChoice> tuning) const {
  DeviceVariants device;
  device.number = nextNumber();
  device.multiprocessors = multiprocessors;
  device.tuning = std::move(tuning);
  device.integers = integers;
  if (device.tuning)
    for (uint16_t slot : device.tuning->parameters())
      if (std::find(integers.begin(), integers.end(), slot) == integers.end())
        device.integers.push_back(slot);
  // The key consists of the device, a word of bits (one per condition on a pointer, one for a caller's grid), the
  // integers, and the caller's grid.
  device.canRemember = pointerConditions.size() < 64 && 2 + device.integers.size() + 3 <= ChoiceMemo<Choice>::maxWords;
  return device;
}

/// Computes the members that depend on the ranks.
void Chooser::finish(DeviceVariants &device) const {
  device.times.resize(variants.size());
  device.programTimes.resize(variants.size());
  const std::set<uint32_t, std::greater<>> ranks(device.rank.begin(), device.rank.end());
  for (uint32_t rank : ranks)
    if (rank != 0)
      device.ranks.push_back(makeRank(rank, device));
}

/// Returns the variant with the most assumptions among the variants with the same rank, work and number of warps as
/// variant `index`. All of these variants use the model of the returned one: general code uses a different number of
/// registers and must not appear faster for that reason.
size_t Chooser::mostPromising(size_t index, const DeviceVariants &device) const {
  size_t most = index;
  for (size_t i = 0; i < variants.size(); ++i)
    if (device.rank[i] == device.rank[index] && variants[i].work == variants[index].work &&
        variants[i].promises > variants[most].promises)
      most = i;
  return most;
}

RankedVariants Chooser::makeRank(uint32_t rank, DeviceVariants &device) const {
  RankedVariants ranked;
  for (uint16_t i = 0; i < variants.size(); ++i) {
    if (device.rank[i] != rank)
      continue;
    ranked.all.push_back(i);
    if (variants[i].work)
      device.programTimes[i] =
          programTimeOf(*manifests[mostPromising(i, device)],
                        *target::findTarget(manifests[i]->target, manifests[i]->card), device.multiprocessors);
    if (!variants[i].gemm)
      continue;
    device.times[i] = formulaOf(*manifests[i]->cost, *target::findTarget(manifests[i]->target, manifests[i]->card),
                                device.multiprocessors);
    if (!ranked.gemm)
      ranked.gemm = variants[i].gemm;
    if (ranked.gemm != variants[i].gemm || alternatives[i])
      continue;
    ranked.timed.push_back(i);
    ranked.bounds.add(*device.times[i]);
  }
  return ranked;
}

/// Ranks variants by their targets. Variants that run only through their PTX are considered if no variant runs
/// directly.
void Chooser::rankAll(DeviceVariants &device, const TargetCheck &check) const {
  for (bool takesPtx : {false, true}) {
    device.rank.clear();
    device.obstacles.clear();
    for (size_t i = 0; i < manifests.size(); ++i) {
      const std::string &target = manifests[i]->target;
      const bool isPtx = manifests[i]->format == "ptx" || (takesPtx && !withPtx.empty() && withPtx[i]);
      const Status status = target.empty() ? Success{} : check(target, isPtx);
      const Result<Target> parsed = parseTarget(target);
      device.rank.push_back(!status ? 0 : parsed ? rankOf(*parsed, manifests[i]->isFallback) : 1);
      device.obstacles.push_back(status ? "" : status.error().message);
    }
    if (std::any_of(device.rank.begin(), device.rank.end(), [](uint32_t rank) { return rank != 0; }))
      return;
  }
}

DeviceVariants Chooser::onDevice(const DeviceFacts &facts, std::shared_ptr<const TunedChoice> tuning) const {
  DeviceVariants device = makeDevice(facts.multiprocessors, std::move(tuning));
  rankAll(device,
          [&](std::string_view target, bool isPtx) { return checkTarget(target, isPtx, facts.major, facts.minor); });
  for (size_t i = 0; i < manifests.size(); ++i) {
    const Manifest &manifest = *manifests[i];
    const int64_t shared = manifest.launch.sharedStatic + manifest.launch.sharedDynamic;
    std::string &obstacle = device.obstacles[i];
    if (obstacle.empty() && facts.sharedBytes > 0 && shared > facts.sharedBytes)
      obstacle =
          fmt::format("it needs {} bytes of shared memory per block but the device has {}", shared, facts.sharedBytes);
    if (obstacle.empty() && !facts.canEncodeTensorMaps && !manifest.tensorMaps.empty())
      obstacle = "it takes tensor maps, which the CUDA driver cannot encode; driver 525 (CUDA 12.0) or later is needed";
    if (!obstacle.empty())
      device.rank[i] = 0;
  }
  finish(device);
  return device;
}

DeviceVariants Chooser::onTarget(std::string_view target, int multiprocessors) const {
  DeviceVariants device = makeDevice(multiprocessors, nullptr);
  rankAll(device, [&](std::string_view own, bool isPtx) {
    return own == target ? Success{} : checkTarget(own, isPtx, target);
  });
  finish(device);
  return device;
}

} // namespace tile::runtime
