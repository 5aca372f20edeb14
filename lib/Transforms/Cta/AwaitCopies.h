// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves the waits for copies that no loop prefetches to the first use of the copied data, instead of awaiting one copy
// after another.
//
//   async_copy a; commit; wait 0; fence         async_copy a; commit
//   async_copy b; commit; wait 0; fence   ==>   async_copy b; commit
//   x = load p                                  x = load p
//   wgmma a, b                                  wait 0; fence
//                                               wgmma a, b
//
// If `a` is needed before `b`, the wait for `a` leaves the later copies in flight.
#pragma once

#include "mlir/IR/Block.h"

namespace tile {

/// Sinks the waits in the block that directly follow their copies.
void awaitCopiesLate(mlir::Block &block);

} // namespace tile
