// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognizes loads and stores through tensors of pointers that access a block of a rectangular tensor, like a
// descriptor.
//
//   %p = a + first*lda + (rows[:, None]*lda + ks[None, :]), bumped by 32 in each iteration k
//   tile.load %p mask (rows[:, None] < M - first) & (ks[None, :] < K - 32*k)
//     =>  tensor a of shape [M, K] and strides [lda, 1], block at [first, 32*k]
//
// If the whole block has an additional offset, as in `a + batch * stride`, the tensor gets a further dimension before
// the others, in which the block has one index.
//
// An access without a mask is also recognized if the address wraps around at the boundary, as in `(first + rows) % M`,
// and no stored value depends on the elements that are read beyond the boundary.
//
// The analysis proves that each element that the mask enables is the one that a descriptor access at these coordinates
// moves, and that all other elements of the block are outside the tensor's shape. For this, coordinates must be
// non-negative, and the mask must be exactly the boundary. Values known at launch make up the shape; all other values
// in the mask make up the coordinates. A dimension without a boundary is as large as a descriptor can express, and its
// coordinates must stay within that size.
// It also proves, from the launcher's guarantees or from hints about the block, that the base and every row are 16-byte
// aligned. It assumes that index arithmetic neither overflows nor reaches 2^31 - 1, and that strides are non-negative
// (the launcher checks the strides that it can compute).
//
// For loads, the base may also be loaded from memory, for example from a table. Other loaded values then count as
// known, too: the descriptor is created after all of these loads.
#pragma once

#include "Analysis/Addresses/AffineBlock.h"
#include "Tile/TileDialect.h"

#include <string>

namespace tile {

/// A block access with its dimensions in the order of the tensor's memory layout: the last dimension is contiguous.
/// Dimensions of block size 1 may come before the dimensions of the access.
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

/// An access, or the reason why there is no descriptor for it: a clause without a capital letter or a period.
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
