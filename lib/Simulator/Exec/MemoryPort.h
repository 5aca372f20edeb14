// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resolves the addresses of instructions to host memory: checks bounds and alignment, resolves generic addresses, and
// reports the accesses to the checker and the profiler. All operations that access memory use this file.
#pragma once

#include "Simulator/Exec/Operands.h"
#include "Simulator/Machine/Machine.h"

namespace tile::sim {

/// Fills `access` with the resolved addresses of `lanes`, and `host` with their host addresses; the caller has set the
/// kind, order, scope, instruction and bytes of `access`. Informs the checker and the profiler. Returns false after a
/// report: if an address is out of bounds, in a space that does not support the access, in a CTA that has exited, or
/// misaligned. An address must be a multiple of the largest power of two in `access.bytes`, at most 32, unless the
/// access is a part of another one.
bool resolveLanes(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize], LaneAccess &access,
                  std::byte *(&host)[warpSize]);

/// Returns the host address of shared memory, of this CTA or a peer, for an asynchronous operation or a barrier. Sets
/// `range` (for Checker::asyncAccess). Returns null after a report.
std::byte *resolveShared(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t sharedAddress, uint32_t bytes,
                         uint32_t alignment, Range &range);
/// Returns the CTA that owns a shared address and sets `address` to the address within that CTA. Returns null after a
/// report if there is no CTA with this rank, or if it has exited.
Cta *resolveSharedCta(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t sharedAddress, uint32_t &address);

/// Does the same as resolveShared() for an address in global memory.
std::byte *resolveGlobal(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t address, uint64_t bytes,
                         uint32_t alignment, Range &range);

/// Reports each lane whose address is not a multiple of the alignment of the access. Returns false after a report.
bool checkAlignment(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize],
                    const LaneAccess &access);

/// Returns the host address of bytes that the simulator itself reads (a format string), or null if they do not exist.
/// Does not report or check the access.
std::byte *peekMemory(Warp &warp, Space space, unsigned lane, uint64_t address, uint64_t bytes);

/// Returns true if a generic address lies in the shared window. Some instructions accept such an address in place of a
/// shared address.
inline bool isSharedGeneric(uint64_t address) {
  return address >= sharedWindow && address < localWindow;
}

} // namespace tile::sim
