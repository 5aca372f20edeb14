// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether some elements of a tensor make no difference to what a program writes.
//
//   %x = tile.load %a_ptrs                             rows beyond M - first of %x …
//   %c = tile.dot %x, %y, %acc                         … are rows of %c
//   tile.store %c_ptrs, %c mask rows < M - first       … and not stored
#pragma once

#include "Analysis/AffineBlock.h"

namespace tile {

/// No operation with an effect depends on the elements of `value` where `inside`, a boundary, does not hold. They are
/// followed through elementwise arithmetic, dots, loops and branches; anything else counts as an observer.
bool isUnobservedOutside(mlir::Value value, const Condition &inside, AffineBlocks &blocks);

} // namespace tile
