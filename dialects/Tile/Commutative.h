// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether the order of two operands matters to a combination.
#pragma once

#include "mlir/IR/Block.h"

namespace tile {

/// Whether the region of a reduction gives combine(a, b) == combine(b, a) for all tuples a and b, as far as its form
/// shows; `isExact`: bit by bit, also where multiplications and additions are contracted.
bool isCommutative(mlir::Block &combine, bool isExact);

} // namespace tile
