// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps in a kernel's memory: in its parameters, in global memory, or in shared memory while the kernel creates
// them.
#pragma once

#include "Simulator/Exec/Async/MbarrierState.h"
#include "Simulator/Exec/Async/TensorMap.h"

namespace tile::sim {

/// Reads the map at a generic address for a copy. Returns false after a report: if there is no valid map, or if the
/// kernel created the map and did not release its current contents or acquire them by fence.proxy.tensormap.
bool loadTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t address, TensorMap &map);

/// Executes fence.proxy.tensormap::generic.acquire for the map at `address`. Returns false after a report.
bool acquireTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t address);

/// Records that a thread of the warp has changed the map at `address` in global memory; the map must then be released.
void noteMapChange(Warp &warp, uint64_t address);
/// Records the same for all maps that a store may have changed: kernels create maps in shared memory and copy them to
/// global memory.
void noteStoredMaps(Warp &warp, const LaneAccess &access);
/// Executes fence.proxy.tensormap::generic.release for all maps that threads of the CTA have changed.
void releaseTensorMaps(Warp &warp);

/// Returns the 128 bytes of a map at an address in `space`, for an access of this kind. Returns null after a report,
/// including when the address is generic and lies in none of the `possible` spaces.
std::byte *resolveTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, Space space, uint64_t address,
                            AccessKind kind, std::initializer_list<Space> possible);

} // namespace tile::sim
