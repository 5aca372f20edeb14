// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assignment of shared memory offsets to buffers.
//
// Places the largest buffers first, each at the lowest offset where it overlaps no placed buffer with an intersecting
// lifetime:
//
//   offset  0 ┌─────────────┬────────┐        a and c never live together, so they share bytes;
//             │ a           │ c      │        cta-insert-barriers orders the accesses
//             ├──────┬──────┴────────┤
//             │      │ b             │
//             └──────┴───────────────┘ time
//
// If little memory is needed, no buffers share bytes, which saves barriers. If this placement does not fit, buffers are
// also placed in the order in which their lifetimes begin, and the placement that takes less memory is chosen.
//
// Offsets are multiples of 128 bytes (all banks, and the alignment of a bulk copy); a tile with a hardware swizzle of W
// bytes is aligned to 8 * W bytes, because the swizzle is a function of the address. Rings of mbarriers are placed
// after all buffers and share no memory.
#pragma once

#include "Analysis/SharedMemory/SharedLiveness.h"

namespace tile {

struct Placement {
  BufferLife life;
  int64_t bytes = 0;
  int64_t offset = 0;

  int64_t getEnd() const { return offset + bytes; }
};

struct SharedPlacement {
  llvm::SmallVector<Placement> buffers;                              ///< The buffers, in order of offsets.
  llvm::SmallVector<std::pair<cta::MbarrierAllocOp, int64_t>> rings; ///< The rings of mbarriers, with their offsets.
  int64_t bytes = 0;                                                 ///< The total size in bytes.
};

/// Assigns an offset to each buffer of a kernel, within `capacity` bytes if possible.
SharedPlacement placeBuffers(KernelOp kernel, int64_t capacity);

} // namespace tile
