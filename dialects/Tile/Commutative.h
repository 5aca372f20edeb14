// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commutativity of the regions that combine elements.
#pragma once

#include "mlir/IR/Block.h"

namespace tile {

/// Returns true if the operations in a reduction's region prove that combine(a, b) == combine(b, a) for all tuples a
/// and b. With `isExact`, the two results must be bitwise equal, even if multiplications and additions are contracted.
bool isCommutative(mlir::Block &combine, bool isExact);

} // namespace tile
