// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps in the memory of a kernel: in its parameters, in global memory, in shared memory while it creates them.
#pragma once

#include "Simulator/Exec/Async/MbarrierState.h"
#include "Simulator/Exec/Async/TensorMap.h"

namespace tile::sim {

/// Returns the map at a generic address, ready for use by a copy. Returns false after a report: no valid map, or one
/// created by a kernel and not acquired by fence.proxy.tensormap in its current form, or not released before.
bool loadTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t address, TensorMap &map);

/// fence.proxy.tensormap::generic.acquire for the map at `address`. Returns false after a report.
bool acquireTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t address);

/// Records that a thread of the warp has changed the map at `address` in global memory, which must be released.
void noteMapChange(Warp &warp, uint64_t address);
/// The same for all maps that a store has written to: kernels create maps in shared memory, and copy them.
void noteStoredMaps(Warp &warp, const LaneAccess &access);
/// fence.proxy.tensormap::generic.release: of all maps that threads of the CTA have changed.
void releaseTensorMaps(Warp &warp);

/// Returns the 128 bytes at an address in `space`, for `kind` of access. Null after a report, also for a generic
/// address that is in none of the spaces `possible`.
std::byte *resolveTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, Space space, uint64_t address,
                            AccessKind kind, std::initializer_list<Space> possible);

} // namespace tile::sim
