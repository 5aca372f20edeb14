// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number of transactions of a warp's access: 32-byte sectors of global memory, wavefronts of shared memory.
//
// Shared memory has 32 banks of 4 bytes. A wavefront serves one word of each bank; lanes that read the same word share
// it. Accesses of 8 bytes are served by half warps, those of 16 bytes by quarter warps (CUDA best practices guide,
// "Shared memory and memory banks").
#pragma once

#include "Simulator/Machine/Access.h"

#include <span>

namespace tile::sim {

struct Wavefronts {
  uint32_t actual = 0;
  uint32_t ideal = 0; ///< without any bank conflict
};

/// `addresses` of `bytes` each, in lane order, of the active lanes only.
Wavefronts countWavefronts(std::span<const uint64_t> addresses, unsigned bytes);

struct Sectors {
  uint32_t actual = 0;
  uint32_t ideal = 0; ///< if the distinct bytes were consecutive and aligned
};
Sectors countSectors(std::span<const uint64_t> addresses, unsigned bytes);

} // namespace tile::sim
