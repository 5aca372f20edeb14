// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bounds the CTAs of a multiprocessor; see ResidentCtas.h.
#include "Target/ResidentCtas.h"

#include "Target/SharedMemory.h"

namespace tile::target {

ResidentCtas countResidentCtas(const GpuTarget &gpu, int64_t registers, int64_t threads, int64_t sharedBytes) {
  constexpr int64_t registerUnit = 256; // a warp gets its registers in units of so many
  int64_t warps = std::max<int64_t>((threads + threadsPerWarp - 1) / threadsPerWarp, 1);
  int64_t registersPerWarp = (registers * threadsPerWarp + registerUnit - 1) / registerUnit * registerUnit;
  ResidentCtas ctas;
  ctas.ofBlocks = gpu.maxCtasPerSm;
  ctas.ofWarps = gpu.maxWarpsPerSm / warps;
  ctas.ofRegisters = registers ? registersPerSm / (registersPerWarp * warps) : ctas.ofBlocks;
  ctas.ofShared = gpu.sharedPerSm / (sharedBytes + reservedShared);
  return ctas;
}

} // namespace tile::target
