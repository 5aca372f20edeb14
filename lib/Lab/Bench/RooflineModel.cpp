// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives properties of a launch from the manifest: occupancy, bytes loaded by blocks, and the number of blocks.
#include "Lab/Bench/Roofline.h"

#include "Runtime/Cost.h"
#include "Target/GpuTarget.h"
#include "Target/Plan/Residency.h"

#include <algorithm>
#include <cmath>

namespace tile::runner {

namespace {

constexpr int64_t threadsPerWarp = target::threadsPerWarp;

/// Returns the target whose limits apply to the multiprocessors of this device: the latest target that is not newer
/// than the device.
const target::GpuTarget *limitsOf(const CudaDeviceInfo &device) {
  const target::GpuTarget *best = nullptr;
  for (const target::GpuTarget *known : target::allTargets())
    if (known->capability <= static_cast<unsigned>(device.major * 10 + device.minor))
      best = known;
  return best;
}

/// Returns the name of the resource as it is used within a sentence.
static const char *limitName(target::Resource resource) {
  switch (resource) {
  case target::Resource::Ctas:
    return "the number of blocks";
  case target::Resource::Threads:
    return "warps";
  case target::Resource::SharedMemory:
    return "shared memory";
  case target::Resource::Registers:
    return "registers";
  }
  return "";
}

Occupancy findOccupancy(const runtime::LaunchInfo &launch, const target::GpuTarget &limits) {
  Occupancy occupancy;
  occupancy.maxWarps = static_cast<int>(limits.maxWarpsPerSm);
  const int64_t warps = std::max<int64_t>((launch.threadsPerCta + threadsPerWarp - 1) / threadsPerWarp, 1);
  occupancy.warpsPerCta = static_cast<int>(warps);
  const target::Residency held =
      target::planResidency(limits, {.threads = launch.threadsPerCta,
                                     .registers = launch.registers,
                                     .sharedBytes = launch.sharedStatic + launch.sharedDynamic});
  occupancy.ctasPerSm = static_cast<int>(std::max<int64_t>(held.ctas(), 1));
  if (occupancy.ctasPerSm * warps < occupancy.maxWarps)
    occupancy.limit = limitName(held.bottleneck());
  return occupancy;
}

/// Returns the L2 traffic of a GEMM. Each tile reads its rows of one operand and its columns of the other. Rows or
/// columns that the blocks of a cluster share are read only once.
std::optional<double> gemmL2Bytes(const runtime::Manifest &manifest, std::span<const int64_t> slots) {
  if (!manifest.cost)
    return std::nullopt;
  Result<runtime::CostSizes> sizes = runtime::CostSizes::compile(*manifest.cost, expressionNames(manifest));
  const std::optional<target::GemmSize> size = sizes ? sizes->evaluate(slots) : std::nullopt;
  if (!size)
    return std::nullopt;
  const target::GemmConfig &config = manifest.cost->config;
  const auto up = [](int64_t value, unsigned block) { return std::ceil(double(value) / block) * block; };
  const double m = up(size->m, config.blockM), n = up(size->n, config.blockN), k = double(size->k);
  double element = 2;
  for (const runtime::Parameter &parameter : manifest.parameters)
    if (parameter.isPointer) {
      element = runtime::dataTypeSize(parameter.type);
      break;
    }
  const double loads = m * n * k * element * (1.0 / config.blockM + 1.0 / config.blockN);
  return loads + double(size->m) * double(size->n) * element;
}

} // namespace

void modelKernel(const runtime::Manifest &manifest, const Grid &grid, std::span<const int64_t> slots,
                 const CudaDeviceInfo &device, RooflineFacts &facts) {
  facts.multiprocessors = device.multiprocessors;
  facts.isPersistent = manifest.launch.persistent;
  facts.programs = double(grid[0]) * double(grid[1]) * double(grid[2]);
  if (const target::GpuTarget *limits = limitsOf(device))
    facts.occupancy = findOccupancy(manifest.launch, *limits);
  if (facts.isPersistent)
    facts.occupancy.ctasPerSm = static_cast<int>(std::max<int64_t>(manifest.launch.ctasPerSm, 1));
  facts.l2Bytes.value = std::max(gemmL2Bytes(manifest, slots).value_or(0), facts.memoryBytes.value);
}

} // namespace tile::runner
