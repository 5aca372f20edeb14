// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared by all accesses to global memory: verification of `vector`, the number of elements that a thread accesses with
// one instruction.
#pragma once

#include "mlir/IR/Operation.h"

namespace tile {

mlir::LogicalResult verifyVector(mlir::Operation *op, int64_t vector);

} // namespace tile
