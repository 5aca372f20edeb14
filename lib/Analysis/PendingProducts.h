// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which products of warp groups may be incomplete where one has to be complete.
//
// Products complete in the order in which they are issued, so that a wait says how many of the last ones need not be
// complete (PTX ISA, wgmma.wait_group):
//
//   %s, %t = cta.wgmma …
//   %o, %u = cta.wgmma …
//   %e = cta.await %s after %t       needs a wait with one pending: %o goes on
//   %f = cta.await %o after %u       needs a wait with none pending
//   cta.ring_release … after %u      is after that wait
//
// Forward data flow of how many products may be incomplete, and how many have been issued since each token's product:
// of paths that meet the larger and the lesser number. What loops carry is the token of another iteration.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct MissingWait {
  mlir::Operation *before;
  unsigned pending; ///< How many products may be incomplete.
};

/// The operations that name tokens and before which a wait is missing, in program order. Of awaits that directly follow
/// each other the first one's wait is for all of them.
llvm::SmallVector<MissingWait> findMissingWaits(KernelOp kernel);

} // namespace tile
