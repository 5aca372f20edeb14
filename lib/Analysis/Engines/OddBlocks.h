// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose sizes are not powers of two, in kernels with TMA and wgmma. TMA copies and wgmma multiplies exactly the
// block; for all other operations the block is padded.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Returns true if wgmma may compute the dot with sizes that are not powers of two: both operands are loaded, so that
/// descriptors can load them, and the operand with such a size has no other use.
bool mayHaveOddSize(DotOp dot);

/// Returns true if blocks of the descriptor need not be padded. This is so if all of their sizes are powers of two, or
/// if each copy through the descriptor moves exactly the block: it loads the right operand of wgmma, or stores a matrix
/// of which one dimension is a power of two and the other a multiple of 16.
bool needsNoPadding(MakeDescOp desc);

/// Given the descriptors that get tensor maps, returns those whose blocks would have to be padded nevertheless, because
/// the left operand of a dot has no map: it is loaded neither through one of these descriptors nor through a descriptor
/// argument.
llvm::SmallVector<MakeDescOp> findUnpaired(llvm::ArrayRef<MakeDescOp> withMaps);

} // namespace tile
