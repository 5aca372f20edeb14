// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determines whether some elements of a tensor have no influence on the program's writes.
//
//   %x = tile.load %a_ptrs                             rows beyond M - first of %x …
//   %c = tile.dot %x, %y, %acc                         … are rows of %c
//   tile.store %c_ptrs, %c mask rows < M - first       … and not stored
#pragma once

#include "Analysis/Addresses/AffineBlock.h"

namespace tile {

/// Returns true if no operation with an effect depends on the elements of `value` where `inside`, a boundary, does not
/// hold. Elements are followed through elementwise arithmetic, dots, loops and branches; all other users count as
/// observers.
bool isUnobservedOutside(mlir::Value value, const Condition &inside, AffineBlocks &blocks);

} // namespace tile
