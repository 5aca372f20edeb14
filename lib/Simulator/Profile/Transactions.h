// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number of transactions of a warp's access: 32-byte sectors of global memory, wavefronts of shared memory.
//
// Shared memory has 32 banks of 4 bytes. A wavefront serves one word of each bank, and lanes that read the same word
// share it. Accesses of 8 bytes are served for half a warp at a time, and accesses of 16 bytes for a quarter (CUDA best
// practices guide, "Shared memory and memory banks").
#pragma once

#include "Simulator/Machine/Access.h"

#include <span>

namespace tile::sim {

struct Wavefronts {
  uint32_t actual = 0;
  uint32_t ideal = 0; ///< wavefronts without any bank conflict
};

/// Counts the wavefronts of an access of `bytes` at each address. `addresses` contains only the active lanes, in lane
/// order.
Wavefronts countWavefronts(std::span<const uint64_t> addresses, unsigned bytes);

struct Sectors {
  uint32_t actual = 0;
  uint32_t ideal = 0; ///< sectors if the distinct bytes were consecutive and aligned
};
Sectors countSectors(std::span<const uint64_t> addresses, unsigned bytes);

} // namespace tile::sim
