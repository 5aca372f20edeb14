// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bounds the CTAs of a multiprocessor; see ResidentCtas.h.
#include "Target/ResidentCtas.h"

#include "Target/Engines/Wgmma.h"
#include "Target/SharedMemory.h"

namespace tile::target {

// Each of a multiprocessor's partitions has a quarter of its registers, and of a CTA's warps. A warp gets its registers
// in units, so many for a thread.
static constexpr int64_t partitions = 4, registersOfPartition = registersPerSm / partitions, unitOfThread = 8;

static int64_t divideUp(int64_t number, int64_t divisor) {
  return (number + divisor - 1) / divisor;
}

static int64_t countWarps(int64_t threads) {
  return std::max<int64_t>(divideUp(threads, threadsPerWarp), 1);
}

ResidentCtas countResidentCtas(const GpuTarget &gpu, int64_t registers, int64_t threads, int64_t sharedBytes) {
  int64_t warps = countWarps(threads);
  int64_t registersOfWarp = divideUp(registers, unitOfThread) * unitOfThread * threadsPerWarp;
  ResidentCtas ctas;
  ctas.ofBlocks = gpu.maxCtasPerSm;
  ctas.ofWarps = gpu.maxWarpsPerSm / warps;
  ctas.ofRegisters = registers ? registersOfPartition / registersOfWarp * partitions / warps : ctas.ofBlocks;
  int64_t taken = sharedBytes + reservedShared(gpu);
  ctas.ofShared = taken ? gpu.sharedPerSm / taken : ctas.ofBlocks;
  return ctas;
}

unsigned countWantedSlots(const GpuTarget &gpu, unsigned stages, const ProducerCta &cta) {
  constexpr unsigned defaultStages = 3, producerWarps = 1;
  constexpr int64_t others = 32; // registers of a thread, beside its accumulators: at least
  if (stages <= 1 || stages > defaultStages)
    return stages;
  // Several warp groups share out all registers of a multiprocessor (setmaxnreg).
  bool takesRegisters = cta.consumerWarps >= 2 * warpsPerGroup;
  int64_t threads = int64_t(cta.consumerWarps + producerWarps) * threadsPerWarp;
  takesRegisters |= 2 * threads * (cta.accumulatorRegisters + others) > int64_t(registersPerSm);
  bool isAlone = takesRegisters || 2 * (cta.sharedBytes + reservedShared(gpu)) > int64_t(gpu.sharedPerSm);
  return isAlone ? 2 * stages : stages;
}

int64_t countRegistersFor(int64_t ctas, int64_t threads) {
  int64_t warpsOfPartition = divideUp(ctas * countWarps(threads), partitions);
  return registersOfPartition / (warpsOfPartition * threadsPerWarp) / unitOfThread * unitOfThread;
}

} // namespace tile::target
