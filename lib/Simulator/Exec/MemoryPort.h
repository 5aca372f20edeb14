// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the addresses of an instruction to host memory: bounds, alignment, generic addresses, and word to the checker
// and the profiler. All operations that touch memory go through here.
#pragma once

#include "Simulator/Exec/Operands.h"
#include "Simulator/Machine/Machine.h"

namespace tile::sim {

/// Fills `access` (kind, order, scope, instruction and bytes are the caller's) with the resolved addresses of the lanes
/// `lanes`, and `host` with the bytes behind them. Tells checker and profiler. False after a report: out of bounds,
/// misaligned (each address must be a multiple of `access.bytes`' largest power of two, at most 32, unless the access
/// is part of another one), in a space that does not take such accesses, exited peer CTA.
bool resolveLanes(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize], LaneAccess &access,
                  std::byte *(&host)[warpSize]);

/// Shared memory at a shared address, the own CTA's or a peer's, for an asynchronous operation or a barrier. Sets
/// `range` (for Checker::asyncAccess). Null after a report.
std::byte *resolveShared(Warp &warp, const Place &place, unsigned lane, uint64_t sharedAddress, uint32_t bytes,
                         uint32_t alignment, Range &range);
/// The CTA that a shared address is of, and the address within it. Null after a report: no such rank, exited.
Cta *resolveSharedCta(Warp &warp, const Place &place, unsigned lane, uint64_t sharedAddress, uint32_t &address);

/// The same for global memory.
std::byte *resolveGlobal(Warp &warp, const Place &place, unsigned lane, uint64_t address, uint64_t bytes,
                         uint32_t alignment, Range &range);

/// Reports each of the lanes whose address is not a multiple of `alignment`, for an access of so many bytes.
bool checkAlignment(Warp &warp, Space space, LaneMask lanes, const uint64_t (&addresses)[warpSize],
                    const LaneAccess &access);

/// Bytes past an address, for what the simulator itself reads (a format string); null if there are none. No checks.
std::byte *peekMemory(Warp &warp, Space space, unsigned lane, uint64_t address, uint64_t bytes);

/// A generic address that lies in the shared window → shared address; others unchanged. For operands of instructions
/// that take shared addresses as generic ones.
inline bool isSharedGeneric(uint64_t address) {
  return address >= sharedWindow && address < localWindow;
}

} // namespace tile::sim
