// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes how many wgmmas may be incomplete at an operation that requires a wgmma to be complete.
//
// wgmmas complete in issue order, so a wait states how many of the last ones need not be complete (PTX ISA,
// wgmma.wait_group):
//
//   %s, %t = cta.wgmma …
//   %o, %u = cta.wgmma …
//   %e = cta.await %s after %t       needs a wait with one pending: %o stays in flight
//   %f = cta.await %o after %u       needs a wait with none pending
//   cta.ring_release … after %u      is after that wait
//
// A forward data-flow analysis tracks how many wgmmas may be incomplete and, for each token, how many wgmmas have been
// issued since the token's wgmma. Where paths join, it takes the maximum of the former and the minimum of the latter.
// Loops also carry tokens of other iterations.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct MissingWait {
  mlir::Operation *before;
  unsigned pending; ///< The number of wgmmas that may be incomplete.
};

/// Returns the operations that use tokens and before which a wait is missing, in program order. If several awaits
/// directly follow each other, the wait before the first one serves all of them.
llvm::SmallVector<MissingWait> findMissingWaits(KernelOp kernel);

} // namespace tile
