// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the addresses of an instruction to host memory: bounds, alignment, generic addresses, and events for the checker
// and the profiler. All operations that access memory use this file.
#pragma once

#include "Simulator/Exec/Operands.h"
#include "Simulator/Machine/Machine.h"

namespace tile::sim {

/// Fills `access` (the caller sets kind, order, scope, instruction and bytes) with the resolved addresses of the lanes
/// `lanes`, and `host` with their host addresses. Informs checker and profiler. Returns false after a report: out of
/// bounds, misaligned (each address must be a multiple of the largest power of two in `access.bytes`, at most 32,
/// unless the access is part of another one), in a space that does not support such accesses, exited peer CTA.
bool resolveLanes(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize], LaneAccess &access,
                  std::byte *(&host)[warpSize]);

/// Returns shared memory at a shared address, the CTA's own or a peer's, for an asynchronous operation or a barrier.
/// Sets `range` (for Checker::asyncAccess). Null after a report.
std::byte *resolveShared(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t sharedAddress, uint32_t bytes,
                         uint32_t alignment, Range &range);
/// Returns the CTA that owns a shared address, and the address within it. Null after a report: no such rank, exited.
Cta *resolveSharedCta(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t sharedAddress, uint32_t &address);

/// The same for an address in global memory.
std::byte *resolveGlobal(Warp &warp, const SourceLoc &loc, unsigned lane, uint64_t address, uint64_t bytes,
                         uint32_t alignment, Range &range);

/// Reports each of the lanes whose address is not a multiple of `alignment`, for an access of that many bytes.
bool checkAlignment(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize],
                    const LaneAccess &access);

/// Returns bytes at an address that the simulator itself reads (a format string); null if there are none. No checks.
std::byte *peekMemory(Warp &warp, Space space, unsigned lane, uint64_t address, uint64_t bytes);

/// Converts a generic address in the shared window to a shared address; others are unchanged. For operands of
/// instructions that accept generic addresses as shared ones.
inline bool isSharedGeneric(uint64_t address) {
  return address >= sharedWindow && address < localWindow;
}

} // namespace tile::sim
