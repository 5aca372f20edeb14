// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies that no loop runs ahead begin right after the copies before them, instead of where their block is needed.
//
//   async_copy a; commit; wait 0                async_copy a; commit; wait 0
//   x = local_load a                            async_copy b; commit; wait 0
//   y = f x                               ==>   x = local_load a
//   async_copy b; commit; wait 0                y = f x
//   z = local_load b                            z = local_load b
//
// What their addresses are computed of comes along. Copies stay after what may write what they read, as stores to
// other parameters do not, and where they are if more shared memory would leave room for fewer CTAs. Waits go down
// afterwards (AwaitCopies.h).
#pragma once

#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"

namespace tile {

void beginCopiesEarly(KernelOp kernel, const target::GpuTarget &gpu);

/// The same for loads of few registers that are used in the block, which go before what is exchanged between threads or
/// awaited, to the loads before them. Beside products only: of kernels that wait for memory alone CTAs run side by
/// side.
void beginLoadsEarly(KernelOp kernel);

} // namespace tile
