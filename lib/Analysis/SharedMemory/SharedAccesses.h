// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Returns the buffers in shared memory that an operation accesses, derived from the operation's declared effects.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct SharedAccess {
  mlir::Value buffer;
  bool isWrite;
  bool isAsync; ///< The access continues after the operation, until a wait.
};

/// Returns the accesses that must be ordered by barriers, or by waits and barriers. Accesses that are ordered by
/// mbarriers or by the operation itself are not included.
llvm::SmallVector<SharedAccess, 2> getSharedAccesses(mlir::Operation *op);

/// Returns true if all wgmmas, including the operation's own, are complete after the operation.
bool awaitsAllWgmmas(mlir::Operation *op);

} // namespace tile
