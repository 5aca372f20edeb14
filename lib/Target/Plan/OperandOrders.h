// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans how TMA blocks reach wgmma, depending on their memory layout: unchanged, with the operands of the MMA swapped,
// read into registers, or transposed by threads.
//
//   sourcesInOrder({.bits = 8, .aKMajor = true, .bKMajor = false}).b    // Transposed
//   sourcesSwapped({.bits = 32, .aKMajor = true, .bKMajor = false}).a   // Registers: b becomes the left operand
//
// Analysis/Engines/EngineChoice follows these plans if the program allows it, and the cost model counts the cost.
#pragma once

#include "Target/Engines/Wgmma.h"

namespace tile::target {

/// Returns true if wgmma does not support the dot's number of rows, which is less than 64 or not a power of two. wgmma
/// supports such numbers of columns, so the operands should be swapped: c^T = b^T a^T.
bool gainsBySwap(int64_t rows);

/// The element size and the memory layouts of an MMA's operands.
struct BlockOrders {
  unsigned bits;         ///< per element
  bool aKMajor, bKMajor; ///< whether k is contiguous
};

/// The sources of an MMA's operands.
struct BlockSources {
  OperandSource a = OperandSource::Tma, b = OperandSource::Tma;

  bool operator==(const BlockSources &) const = default;
};

/// Returns the sources for the operands in their given order. wgmma reads blocks of 16-bit types in any memory layout,
/// and blocks of other types only with k contiguous. If m is contiguous in a left block of 32-bit elements, threads
/// read the block into registers, where each element is one register of a fragment. Threads transpose all other blocks.
BlockSources sourcesInOrder(const BlockOrders &orders);
/// Returns the sources for the swapped MMA, whose left operand is b.
BlockSources sourcesSwapped(const BlockOrders &orders);

/// The number of alternating buffers for blocks that threads transpose; with two, the previous MMA can stay in flight.
constexpr unsigned transposedBuffers = 2;

/// Returns true if swapping the operands saves a transposition: threads read a left operand in half the time that they
/// take to store a right operand.
bool swapSavesTransposition(const BlockOrders &orders);

} // namespace tile::target
