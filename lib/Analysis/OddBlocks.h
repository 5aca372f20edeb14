// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose sizes are not powers of two, in kernels with TMA and wgmma, which copy and multiply exactly such a
// block. For all other operations the block is padded.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Returns true if wgmma may compute the dot with sizes that are not powers of two: both operands are loaded, so that
/// they can come through descriptors, and the one with such a size has no other use.
bool mayHaveOddSize(DotOp dot);

/// Returns true if blocks of the descriptor need not be padded: all of their sizes are powers of two, or each copy
/// through it moves exactly the block, because it loads the right operand of wgmma, or stores a matrix of which one
/// dimension is a power of two and the other a multiple of 16.
bool needsNoPadding(MakeDescOp desc);

/// Given the descriptors that get tensor maps, returns those whose blocks would nevertheless have to be padded, because
/// the left operand of a dot has no map: it is loaded neither through one of them nor through an argument.
llvm::SmallVector<MakeDescOp> findUnpaired(llvm::ArrayRef<MakeDescOp> withMaps);

} // namespace tile
