// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements Residency.h.
#include "Target/Plan/Residency.h"

#include "Target/SharedMemory.h"

#include <algorithm>
#include <iterator>

namespace tile::target {

// Each of a multiprocessor's four partitions has a quarter of its registers, and gets a quarter of a CTA's warps.
static constexpr int64_t partitions = 4, registersOfPartition = registersPerSm / partitions;

static int64_t divideUp(int64_t number, int64_t divisor) {
  return (number + divisor - 1) / divisor;
}

static int64_t countWarps(int64_t threads) {
  return std::max<int64_t>(divideUp(threads, threadsPerWarp), 1);
}

std::string_view resourceName(Resource resource) {
  constexpr std::string_view names[] = {"CTAs", "threads", "shared memory", "registers"};
  static_assert(std::size(names) == size_t(Resource::Registers) + 1);
  return names[size_t(resource)];
}

int64_t Residency::ctas() const {
  return std::min({byCtas, byThreads, byShared, byRegisters});
}

Resource Residency::bottleneck() const {
  const int64_t least = ctas();
  return least == byCtas      ? Resource::Ctas
         : least == byThreads ? Resource::Threads
         : least == byShared  ? Resource::SharedMemory
                              : Resource::Registers;
}

Residency planResidency(const GpuTarget &gpu, const CtaUse &use) {
  int64_t warps = countWarps(use.threads);
  int64_t registersOfWarp = divideUp(use.registers, registerGranule) * registerGranule * threadsPerWarp;
  int64_t shared = use.sharedBytes + reservedShared(gpu);
  Residency held;
  held.byCtas = gpu.maxCtasPerSm;
  held.byThreads = gpu.maxWarpsPerSm / warps;
  held.byShared = shared ? gpu.sharedPerSm / shared : held.byCtas;
  held.byRegisters = use.registers ? registersOfPartition / registersOfWarp * partitions / warps : held.byCtas;
  return held;
}

int64_t registersForCtas(int64_t ctas, int64_t threads) {
  int64_t warpsOfPartition = divideUp(ctas * countWarps(threads), partitions);
  return registersOfPartition / (warpsOfPartition * threadsPerWarp) / registerGranule * registerGranule;
}

int64_t registersOfLoneCta(int64_t threads) {
  return std::min<int64_t>(maxRegistersPerThread, registersPerSm / threads);
}

int64_t sharedForCtas(const GpuTarget &gpu, int64_t ctas) {
  return std::min<int64_t>(gpu.sharedPerSm / ctas - reservedShared(gpu), gpu.maxSharedPerCta);
}

} // namespace tile::target
