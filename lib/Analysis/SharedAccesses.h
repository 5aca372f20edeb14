// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which buffers in shared memory an operation accesses, from the effects that its declaration gives.
#pragma once

#include "Cta/CtaDialect.h"

#include "llvm/ADT/SmallVector.h"

namespace tile {

struct SharedAccess {
  mlir::Value buffer;
  bool isWrite;
  bool goesOn; ///< After the operation, until a wait.
};

/// The accesses that barriers must order, or waits and barriers; not those that mbarriers do, or the operation itself.
llvm::SmallVector<SharedAccess, 2> getSharedAccesses(mlir::Operation *op);

/// Whether all products of warp groups are complete after the operation, its own, too.
bool awaitsAllProducts(mlir::Operation *op);

} // namespace tile
