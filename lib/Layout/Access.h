// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans wide accesses to a buffer by the threads of a CTA, and counts bank conflicts.
//
// All plans are derived from `offsets = memoryOffsets(distributed, shared)`, the linear map from (register, lane, warp)
// to the element offset. The registers of an access need not be the lowest ones; they need not even correspond to a set
// of register bits. A plan therefore contains a register order: a linear permutation of the registers after which each
// access takes consecutive positions.
//
//   registerOrder = [0, 4, 1, 5, 2, 6, 3, 7], 2 elements per access:  (0, 4) (1, 5) (2, 6) (3, 7)
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

struct VectorAccess {
  unsigned elements = 1;              // elements per access, a power of two; they are consecutive and aligned in memory
  std::vector<int32_t> registerOrder; // position -> register
  /// Maps (register = index of the access, lane, warp) to the element offset of the access.
  LinearLayout addresses;
};

/// Plans the widest access of at most maxBytes. For global memory, pass the offsets of unswizzledShared(shape, order)
/// and choose maxBytes according to the known contiguity and alignment.
VectorAccess planVectorAccess(const LinearLayout &offsets, unsigned elementBytes, unsigned maxBytes = 16);

/// Returns the number of wavefronts that one access of a warp takes in addition to the minimum. The result is exact for
/// 32 banks of 4 bytes: an access of a warp is served in phases of 32, 16 or 8 lanes for up to 4, 8 or 16 bytes per
/// lane, and lanes that access the same word of a bank share it.
int64_t bankConflicts(const LinearLayout &offsets, unsigned elementBytes, unsigned vectorElements);

/// An access by ldmatrix or stmatrix (8x8 matrices of 16-bit units). The positions of registerOrder run first over the
/// elements of a 32-bit register, then over the matrices of an instruction, then over the instructions.
struct MatrixAccess {
  bool transposed = false;
  unsigned matrices = 1;            // 1, 2 or 4
  unsigned elementsPerRegister = 2; // elements in a 32-bit register
  std::vector<int32_t> registerOrder;
  /// Maps (register = index of the instruction, lane, warp) to the *byte* offset that the lane supplies. The low 3 lane
  /// bits select the row, and the next bits select the matrix. Lanes beyond 8 * matrices repeat addresses.
  LinearLayout addresses;

  int32_t registerAt(unsigned access, unsigned matrix, unsigned element) const {
    return registerOrder[element + elementsPerRegister * (matrix + matrices * access)];
  }
};

/// Plans ldmatrix accesses, with or without .trans, for elements of 1, 2 and 4 bytes (.trans: only 2 bytes). Returns
/// nullopt if the registers and lanes do not hold ldmatrix fragments. Row addresses are 16-byte aligned if the buffer
/// is. The plan also applies to stmatrix, which writes the same fragments to the same addresses.
std::optional<MatrixAccess> planLdmatrix(const LinearLayout &distributed, const LinearLayout &shared,
                                         unsigned elementBytes);

/// Like planLdmatrix, but returns nullopt unless each access moves more bytes per lane than a vector access. Otherwise,
/// ldmatrix and stmatrix, which exchange data between the lanes of a warp, gain nothing.
std::optional<MatrixAccess> planMatrixAccess(const LinearLayout &distributed, const LinearLayout &shared,
                                             unsigned elementBytes);

} // namespace tile::layout
