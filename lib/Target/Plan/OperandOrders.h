// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How blocks that TMA brings reach wgmma, by the order in which they lie in memory: as they are, with the operands of
// the MMA swapped, read into registers, or transposed by threads.
//
//   planBlockOrders({.bits = 8, .aKMajor = true, .bKMajor = false})   // b is Transposed
//   planBlockOrders({.bits = 32, .aKMajor = true, .bKMajor = false})  // swapped; b, the left one then, in Registers
//
// Analysis/EngineChoice obeys this where the program allows it, and the cost model prices it.
#pragma once

#include "Target/Engines/Wgmma.h"

namespace tile::target {

/// Whether wgmma does not have the dot's rows: fewer than 64, or no power of two. Columns may have any of these sizes,
/// so operands are better swapped: c^T = b^T a^T.
bool gainsBySwap(int64_t rows);

/// Orders of an MMA's operands in memory, and what may be done about them.
struct BlockOrders {
  unsigned bits;         ///< of an element
  bool aKMajor, bKMajor; ///< whether k is contiguous
};

/// Where wgmma takes blocks from in the order of the operands as they stand. It reads only 16-bit blocks in either
/// order. Of a left block with m contiguous, threads read words, each a register of a fragment; they transpose all
/// else.
struct BlockSources {
  OperandSource a = OperandSource::Tma, b = OperandSource::Tma;

  bool operator==(const BlockSources &) const = default;
};
BlockSources sourcesInOrder(const BlockOrders &orders);
/// Of the swapped MMA, whose left operand is b.
BlockSources sourcesSwapped(const BlockOrders &orders);

/// Buffers in turn of what threads store of a block, so that the MMA before stays in flight.
constexpr unsigned transposedBuffers = 2;

/// Whether swapping saves a transposition: threads read a left operand in half the time in which they store a right
/// one.
bool swapSavesTransposition(const BlockOrders &orders);

} // namespace tile::target
