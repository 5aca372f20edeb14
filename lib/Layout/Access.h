// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the threads of a CTA can access a buffer in wide and conflict-free instructions.
//
// Everything is read off `offsets = memoryOffsets(distributed, shared)`, the linear map from (register, lane, warp) to
// the element offset. Which registers form an access need not be the lowest ones, or even a set of register bits: plans
// contain a register order, a linear permutation of the registers after which each access takes consecutive positions:
//
//   registerOrder = [0, 4, 1, 5, 2, 6, 3, 7], 2 elements an access:  (0, 4) (1, 5) (2, 6) (3, 7)
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

struct VectorAccess {
  unsigned elements = 1;              // per access: a power of two; consecutive and aligned in memory
  std::vector<int32_t> registerOrder; // position -> register
  /// (register = access number, lane, warp) -> element offset of the access.
  LinearLayout addresses;
};

/// The widest access of at most maxBytes. For global memory, use the offsets of unswizzledShared(shape, order) and a
/// maxBytes that respects the known contiguity and alignment.
VectorAccess planVectorAccess(const LinearLayout &offsets, unsigned elementBytes, unsigned maxBytes = 16);

/// Wavefronts that one access of a warp needs beyond the least possible. Exact for 32 banks of 4 bytes: a warp's access
/// is served in phases of 32, 16 or 8 lanes for up to 4, 8 or 16 bytes a lane, and lanes that touch the same word of a
/// bank share it.
int64_t bankConflicts(const LinearLayout &offsets, unsigned elementBytes, unsigned vectorElements);

/// ldmatrix or stmatrix (8x8 matrices of 16-bit units). Positions of registerOrder: first the elements of a 32-bit
/// register, then the matrices of an instruction, then the instructions.
struct MatrixAccess {
  bool transposed = false;
  unsigned matrices = 1;            // 1, 2 or 4
  unsigned elementsPerRegister = 2; // in 32 bits
  std::vector<int32_t> registerOrder;
  /// (register = instruction number, lane, warp) -> *byte* offset that the lane supplies. The low 3 lane bits select
  /// the row, the next ones the matrix; lanes beyond 8 * matrices repeat addresses.
  LinearLayout addresses;

  int32_t registerAt(unsigned access, unsigned matrix, unsigned element) const {
    return registerOrder[element + elementsPerRegister * (matrix + matrices * access)];
  }
};

/// None if the registers and lanes do not hold the fragments of ldmatrix, with or without .trans. Elements of 1, 2 and
/// 4 bytes (.trans: 2 bytes only). Row addresses are 16-byte aligned if the buffer is. stmatrix writes the fragments
/// that ldmatrix reads, at the same addresses.
std::optional<MatrixAccess> planLdmatrix(const LinearLayout &distributed, const LinearLayout &shared,
                                         unsigned elementBytes);

/// The same, if each access moves more than a plain one; else none. The lanes of a warp exchange what they access so.
std::optional<MatrixAccess> planMatrixAccess(const LinearLayout &distributed, const LinearLayout &shared,
                                             unsigned elementBytes);

} // namespace tile::layout
