// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ways in which TMA blocks reach wgmma, by their order in memory: as they are, with the operands of the MMA
// swapped, read into registers, or transposed by threads.
//
//   sourcesInOrder({.bits = 8, .aKMajor = true, .bKMajor = false}).b    // Transposed
//   sourcesSwapped({.bits = 32, .aKMajor = true, .bKMajor = false}).a   // Registers: b becomes the left operand
//
// Analysis/EngineChoice follows this if the program allows it, and the cost model counts its cost.
#pragma once

#include "Target/Engines/Wgmma.h"

namespace tile::target {

/// Returns true if wgmma does not support the dot's number of rows: fewer than 64, or no power of two. Columns may have
/// any of these sizes, so the operands should be swapped: c^T = b^T a^T.
bool gainsBySwap(int64_t rows);

/// The element size of an MMA's operands and their orders in memory.
struct BlockOrders {
  unsigned bits;         ///< per element
  bool aKMajor, bKMajor; ///< whether k is contiguous
};

/// The sources of an MMA's operands.
struct BlockSources {
  OperandSource a = OperandSource::Tma, b = OperandSource::Tma;

  bool operator==(const BlockSources &) const = default;
};

/// Returns the sources for the operands in their given positions. wgmma reads only 16-bit types in either order. If a
/// left block has m contiguous, threads read words, each of which is a register of a fragment; they transpose all other
/// blocks.
BlockSources sourcesInOrder(const BlockOrders &orders);
/// Returns the sources for the swapped MMA, whose left operand is b.
BlockSources sourcesSwapped(const BlockOrders &orders);

/// The number of alternating buffers for blocks that threads transpose, so that the previous MMA stays in flight.
constexpr unsigned transposedBuffers = 2;

/// Returns true if swapping saves a transposition: threads read a left operand in half the time in which they store a
/// right one.
bool swapSavesTransposition(const BlockOrders &orders);

} // namespace tile::target
