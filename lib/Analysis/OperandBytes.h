// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shared memory that operands take which threads store for dots.
//
//   store a; store b; dot a, b; store c; store d; dot c, d      at once: a and b, or c and d
#pragma once

#include "mlir/IR/Value.h"

namespace tile {

/// Returns the bytes of the operands that are stored at the same time. A buffer is live together with those of
/// enclosing regions, but not with those of other loops and branches. With `freesUsed`, also not with those in its
/// block that are stored after its last use, or used for the last time before it is stored.
int64_t countOperandBytes(mlir::ArrayRef<mlir::Value> stored, bool freesUsed);

} // namespace tile
