// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes live ranges of buffers in shared memory.
//
//   position  0 %a = cta.alloc                       a buffer lives from its first to its last access, as positions of
//             1 cta.local_store %x, %a    a          operations in the program's text
//             2 scf.for {                 a b        if it is defined outside a loop and accessed inside, then during
//             3   cta.local_load %b       a b        the whole loop
//             4 }                         a b        an asynchronous copy continues until a cta.async_wait 0
//             5 cta.local_load %a         a          a wgmma reads its operands until a cta.wgmma_wait 0
//
// The roles of a cta.warp_roles run concurrently, so a buffer that is defined outside is live during the whole
// operation.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct BufferLife {
  cta::AllocOp alloc;
  unsigned first = 0, last = 0; ///< Positions, both included.

  cta::BufferType getType() const { return cta::AllocOp(alloc).getType(); }
  bool overlaps(const BufferLife &other) const { return first <= other.last && other.first <= last; }
};

/// Returns the allocation (a cta.alloc or a cta.ring_alloc) of the memory that `buffer` views; null if `buffer` comes
/// from a block argument or another operation.
mlir::Operation *getMemory(mlir::Value buffer);
/// Returns the allocation of `buffer`'s memory, but only if it is a cta.alloc; otherwise null.
cta::AllocOp getAlloc(mlir::Value buffer);

/// Returns all buffers of a kernel, in the order of their allocations. Every buffer must have an allocation
/// (`getAlloc`).
llvm::SmallVector<BufferLife> findBufferLives(KernelOp kernel);

} // namespace tile
