// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The buffers in shared memory that an operation accesses, from its declared effects.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct SharedAccess {
  mlir::Value buffer;
  bool isWrite;
  bool isAsync; ///< The access continues after the operation, until a wait.
};

/// Returns the accesses that barriers, or waits and barriers, must order; not those that are ordered by mbarriers or by
/// the operation itself.
llvm::SmallVector<SharedAccess, 2> getSharedAccesses(mlir::Operation *op);

/// Returns true if all wgmmas are complete after the operation, including its own.
bool awaitsAllWgmmas(mlir::Operation *op);

} // namespace tile
