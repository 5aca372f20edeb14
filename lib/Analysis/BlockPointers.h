// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loads and stores through tensors of pointers access a block of a rectangular tensor, as a descriptor does.
//
//   %p = a + first*lda + (rows[:, None]*lda + ks[None, :]), bumped by 32 in each iteration k
//   tile.load %p mask (rows[:, None] < M - first) & (ks[None, :] < K - 32*k)
//     =>  tensor a of shape [M, K] and strides [lda, 1], block at [first, 32*k]
//
// What the program adds for the whole block, `a + batch * stride`, is a dimension of its own before the others, with
// one index in the block.
//
// Also without a mask if the address wraps around at the boundary, `(first + rows) % M`, where nothing depends on what
// is read there.
//
// Proven: every enabled element is the one that a descriptor access at these coordinates moves, and no other is inside
// the shape. For this coordinates must not be negative, and the mask must be the boundary, no more and no less. What is
// known at launch makes up the shape, all else in the mask the coordinates. A dimension without a boundary is as large
// as a descriptor can say, and its coordinates must not get larger.
// Proven from the launcher's promises, or what the program says of the block: the base is aligned to 16 bytes, and so
// is every row. Taken for granted: index arithmetic does not overflow nor reach 2^31 - 1, and strides are not negative
// (the launcher checks those that it knows).
//
// A base that the program reads from memory, as one of a table, is as good for loads. What it reads beside it counts as
// known then: the descriptor is made where all has been read.
#pragma once

#include "Analysis/AffineBlock.h"
#include "Tile/TileDialect.h"

#include <string>

namespace tile {

/// In the order of memory: the last dimension is contiguous. Before the access's dimensions there can be others, of
/// block size 1.
struct BlockAccess {
  mlir::Value base;                                ///< A parameter, or else read from memory.
  llvm::SmallVector<Polynomial, 2> shape, strides; ///< Known at launch, or read from memory where the base is.
  llvm::SmallVector<Polynomial, 2> coordinates;    ///< Of the block's first element.
  llvm::SmallVector<int64_t, 2> block;
  llvm::SmallVector<int32_t, 2> order; ///< Which dimension of the access each one is.
  /// Outside of these, in the access's dimensions, the descriptor gives zeros where the access wraps around in the
  /// tensor. Nothing but enabled loads of elements that no store depends on.
  Conditions differences;

  bool isFromMemory() const { return !llvm::isa<mlir::BlockArgument>(base); }
};

/// An access, or why it is none: a sentence without capital and period.
struct BlockAccessResult {
  std::optional<BlockAccess> access;
  std::string reason;
};

/// A scalar that depends on nothing but the kernel's arguments, so that it can be computed where the kernel starts.
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
