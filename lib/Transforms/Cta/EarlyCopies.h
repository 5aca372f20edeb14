// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Issues copies that no loop prefetches earlier: right after the preceding copies instead of just before their first
// use.
//
//   async_copy a; commit; wait 0                async_copy a; commit; wait 0
//   x = local_load a                            async_copy b; commit; wait 0
//   y = f x                               ==>   x = local_load a
//   async_copy b; commit; wait 0                y = f x
//   z = local_load b                            z = local_load b
//
// Copies also move past MMAs and their awaits. The computation of a copy's addresses moves with the copy. Copies stay
// after operations that may write their source; stores to other parameters cannot write it. Copies do not move if the
// higher shared memory use would reduce the number of resident CTAs. Waits sink afterwards (AwaitCopies.h).
#pragma once

#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"

namespace tile {

void beginCopiesEarly(KernelOp kernel, const target::GpuTarget &gpu);

/// Does the same for loads that take only a few registers and are used in the block: moves them above waits and
/// exchanges between threads, up to the preceding loads. Applies only to kernels with MMAs: in kernels that only wait
/// for memory, other resident CTAs hide the latency.
void beginLoadsEarly(KernelOp kernel);

} // namespace tile
