// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts that tensor-core instructions dictate, tiled over a whole tensor.
//
//   D[M, N] += A[M, K] B[K, N]
//
// Warps form a grid warpsM x warpsN, warp = m + warpsM * n, and each warp owns one contiguous block of D: M/warpsM rows
// by N/warpsN columns. The warp holds the corresponding rows of A and columns of B for all of K. So the warps of one
// grid row hold the same part of A (zero warp bases), and the warps of one grid column hold the same part of B.
//
// Register order in every layout: the elements of one instruction's fragment in the order of the PTX tables, then
//   A            k tiles, then m tiles          register = fragment + sizeA * (kTile + kTiles * mTile)
//   B            n tiles, then k tiles          register = fragment + sizeB * (nTile + nTiles * kTile)
//   accumulator  n tiles, then m tiles          register = fragment + sizeD * (nTile + nTiles * mTile)
// With this order, one ldmatrix fills the B fragments of two instructions of the same k step, so a k step can start
// before the operands of the next one are loaded. The terms of the reduction over k may be in any order, as long as A
// and B agree on it: with kWidth, a lane holds kWidth consecutive elements along k of a row of A or a column of B, for
// several instructions, instead of pairs that lie 8 apart. If M is below 16 (wgmma: 64) or N is below 8, or if there
// are more warps than tiles, the excess bits have zero bases: the tile is padded with copies, which is harmless along M
// and N. K must have at least the size of one instruction. Source: PTX ISA, "Matrix Fragments for mma.m16n8k*" and
// "Register Fragments and Shared Memory Matrix Layouts" (wgmma).
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// mma.sync m16n8k{instructionK}. instructionK * elementBits is 256 (m16n8k8 tf32, k16 f16/bf16, k32 8-bit) or 128
/// (half of that; m16n8k8 f16 is the shape of sm_75).
struct MmaTiling {
  unsigned warpsM = 1;
  unsigned warpsN = 1;
  unsigned elementBits = 16; // bits of an element of A and B: 8, 16 or 32
  unsigned instructionK = 16;
  /// Number of consecutive elements along k that a lane holds, a power of two: as many as fit in a register (the PTX
  /// tables) or more, but at most k / 4.
  unsigned kWidth = 32 / elementBits;
};

LinearLayout mmaAccumulator(int64_t m, int64_t n, const MmaTiling &tiling);
LinearLayout mmaOperandA(int64_t m, int64_t k, const MmaTiling &tiling);
LinearLayout mmaOperandB(int64_t k, int64_t n, const MmaTiling &tiling);

/// Layouts of the scales of the rows of a, or of the columns of b, of an MMA with scales; `groups` is the number of
/// scales along k. A thread holds the scales of one line (row or column) of each tile. The instruction reads the scales
/// of row r from lane 4 * r, those of row r + 8 from lane 4 * r + 1, and those of column c from lane 4 * c; the other
/// lanes hold copies. Source: PTX ISA, "Block scaling for mma.sync".
LinearLayout mmaScalesA(int64_t m, int64_t groups, const MmaTiling &tiling);
LinearLayout mmaScalesB(int64_t n, int64_t groups, const MmaTiling &tiling);

/// wgmma m64nNk(256 / elementBits). The warp index is 4 * group + quarter. Groups form a grid groupsM x groupsN, as the
/// warps of mma.sync do, and each quarter holds 16 of the 64 rows of every instruction tile.
struct WgmmaTiling {
  unsigned groupsM = 1;
  unsigned groupsN = 1;
  unsigned elementBits = 16;
  unsigned instructionN = 128;
};

LinearLayout wgmmaAccumulator(int64_t m, int64_t n, const WgmmaTiling &tiling);
/// Returns the layout of an A operand in registers: a K-major fragment whose 32-bit registers hold consecutive elements
/// along k.
LinearLayout wgmmaOperandA(int64_t m, int64_t k, const WgmmaTiling &tiling);

struct RegisterRange {
  int64_t first = 0;
  int64_t count = 0;
  bool operator==(const RegisterRange &) const = default;
};

/// How the tile of one warp (mma.sync) or warp group (wgmma) is divided into instructions, and how many registers each
/// instruction uses.
struct MmaFragments {
  int64_t mTiles = 1, nTiles = 1, kTiles = 1;
  int64_t sizeA = 0, sizeB = 0, sizeAccumulator = 0; // registers of one fragment; sizeB is 0 for wgmma
  RegisterRange a(int64_t mTile, int64_t kTile) const { return {sizeA * (kTile + kTiles * mTile), sizeA}; }
  RegisterRange b(int64_t nTile, int64_t kTile) const { return {sizeB * (nTile + nTiles * kTile), sizeB}; }
  RegisterRange accumulator(int64_t mTile, int64_t nTile) const {
    return {sizeAccumulator * (nTile + nTiles * mTile), sizeAccumulator};
  }
};

MmaFragments mmaFragments(int64_t m, int64_t n, int64_t k, const MmaTiling &tiling);
MmaFragments wgmmaFragments(int64_t m, int64_t n, int64_t k, const WgmmaTiling &tiling);

/// Returns true if each warp group g of `groups` (warps 4 * g to 4 * g + 3) holds exactly the rows (axis 0) or columns
/// (axis 1) from g * part to (g + 1) * part - 1 of a matrix, where `part` is the number of rows or columns divided by
/// `groups`.
bool splitsAxis(const LinearLayout &layout, unsigned axis, int64_t groups);

} // namespace tile::layout
