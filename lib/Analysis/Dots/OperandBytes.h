// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the shared memory taken by dot operands that threads store.
//
//   store a; store b; dot a, b; store c; store d; dot c, d      at the same time: a and b, or c and d
#pragma once

#include "mlir/IR/Value.h"

namespace tile {

/// Returns the peak number of bytes that the operands take in shared memory. The lifetime of a buffer overlaps with
/// those of buffers in enclosing regions, but not with those of buffers in other loops or branches. With `freesUsed`,
/// two buffers of the same block may also share memory if one is stored after the last use of the other.
int64_t countOperandBytes(mlir::ArrayRef<mlir::Value> stored, bool freesUsed);

} // namespace tile
