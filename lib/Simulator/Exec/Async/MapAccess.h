// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps where a kernel has them: in its parameters, in global memory, in shared memory while it makes them.
#pragma once

#include "Simulator/Exec/Async/MbarrierState.h"
#include "Simulator/Exec/Async/TensorMap.h"

namespace tile::sim {

/// The map at a generic address, ready for use by a copy. False after a report: no valid map, or one made by a kernel
/// that fence.proxy.tensormap has not acquired as it is now.
bool loadTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t address, TensorMap &map);

/// fence.proxy.tensormap::generic.acquire for the map at `address`. False after a report.
bool acquireTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, uint64_t address);

/// The 128 bytes at an address in `space`, for `kind` of access. Null after a report, also of a generic address that is
/// in none of the spaces `possible`.
std::byte *resolveTensorMap(Warp &warp, const Instruction &instruction, unsigned lane, Space space, uint64_t address,
                            AccessKind kind, std::initializer_list<Space> possible);

} // namespace tile::sim
