// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks whose sizes are not powers of two, in kernels for TMA and warp groups: these copy and multiply just such a
// block, where others pad it.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Whether warp groups may multiply the dot, of sizes that are not powers of two: both operands are loaded, so that
/// they can come through descriptors, and the one with such a size is used for nothing else.
bool mayHaveOddSize(DotOp dot);

/// Whether blocks of the descriptor need not be padded: all of their sizes are powers of two, or each copy through it
/// moves the block and no more, because it loads the right operand of wgmma, or stores a matrix of
/// which one dimension is a power of two and the other a multiple of 16.
bool needsNoPadding(MakeDescOp desc);

/// Of the descriptors that get tensor maps, those whose blocks would have to be padded after all, because the left
/// operand of a dot gets none, and is no argument with one.
llvm::SmallVector<MakeDescOp> findUnpaired(llvm::ArrayRef<MakeDescOp> withMaps);

} // namespace tile
