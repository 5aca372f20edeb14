// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognizes loads and stores through tensors of pointers that access a block of a rectangular tensor, like a
// descriptor.
//
//   %p = a + first*lda + (rows[:, None]*lda + ks[None, :]), bumped by 32 in each iteration k
//   tile.load %p mask (rows[:, None] < M - first) & (ks[None, :] < K - 32*k)
//     =>  tensor a of shape [M, K] and strides [lda, 1], block at [first, 32*k]
//
// An offset of the whole block, `a + batch * stride`, is a separate dimension before the others, with one index in the
// block.
//
// An access without a mask is also recognized if the address wraps around at the boundary, `(first + rows) % M`, and
// nothing depends on the elements read beyond it.
//
// Proven: every enabled element is the one that a descriptor access at these coordinates moves, and no other element is
// inside the shape. For this, coordinates must be non-negative, and the mask must be exactly the boundary. Values known
// at launch make up the shape; all other values in the mask make up the coordinates. A dimension without a boundary is
// as large as a descriptor can express, and its coordinates must stay within that.
// Also proven, from the launcher's guarantees or from hints about the block: the base and every row are 16-byte
// aligned. Assumed: index arithmetic neither overflows nor reaches 2^31 - 1, and strides are non-negative (the launcher
// checks those that it knows).
//
// For loads, the base may also be loaded from memory, for example from a table. Other values loaded with it count as
// known: the descriptor is created after all of these loads.
#pragma once

#include "Analysis/AffineBlock.h"
#include "Tile/TileDialect.h"

#include <string>

namespace tile {

/// A block access in memory order: the last dimension is contiguous. Dimensions of block size 1 may precede those of
/// the access.
struct BlockAccess {
  mlir::Value base;                                ///< A parameter, or loaded from memory.
  llvm::SmallVector<Polynomial, 2> shape, strides; ///< Known at launch, or loaded from memory if the base is.
  llvm::SmallVector<Polynomial, 2> coordinates;    ///< The coordinates of the block's first element.
  llvm::SmallVector<int64_t, 2> block;
  llvm::SmallVector<int32_t, 2> order; ///< The dimension of the access to which each dimension corresponds.
  /// Conditions in the access's dimensions. Where they do not hold, the descriptor gives zeros but the access wraps
  /// around in the tensor. Non-empty only for unmasked loads, and only if no store depends on such elements.
  Conditions differences;

  bool isFromMemory() const { return !llvm::isa<mlir::BlockArgument>(base); }
};

/// An access, or the reason why there is none: a clause without a capital letter or a period.
struct BlockAccessResult {
  std::optional<BlockAccess> access;
  std::string reason;
};

/// Returns true for a scalar that depends only on the kernel's arguments, so that it can be computed at the kernel's
/// entry.
bool isKnownAtLaunch(mlir::Value value);

class BlockPointers {
public:
  explicit BlockPointers(KernelOp kernel) : facts(kernel), blocks(facts) {}

  BlockAccessResult analyze(LoadOp load);
  BlockAccessResult analyze(StoreOp store);

private:
  AxisInfoAnalysis facts;
  AffineBlocks blocks;
};

} // namespace tile
