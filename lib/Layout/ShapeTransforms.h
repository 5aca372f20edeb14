// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What happens to a distributed layout when the tensor changes shape but no element moves between threads.
//
//   reduce along 1:      [M, N] --removeDim 1-->  [M]
//   expand_dims:         [M]    --insertUnitDim 1--> [M, 1]      (the operand's layout is removeDim of the result's)
//   reshape, trans, join: exact, register for register
//
// `removeDim` leaves a zero basis where lanes or warps now hold copies, and drops register bits that only repeat
// elements that the thread has already: to find the surviving register of an old one, use conversionMap(removeDim(L,
// axis), projectDim(L, axis)).
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Drops the coordinate along `axis`; keeps all bases, also those that became zero or dependent.
LinearLayout projectDim(const LinearLayout &layout, unsigned axis);

/// Removes each register bit whose basis is the XOR of lower ones: the thread holds these elements already.
LinearLayout dropDuplicateRegisters(const LinearLayout &layout);

/// projectDim, then dropDuplicateRegisters.
LinearLayout removeDim(const LinearLayout &layout, unsigned axis);

/// A new dimension of size 1 before `axis`.
LinearLayout insertUnitDim(const LinearLayout &layout, unsigned axis);

/// Dimension `axis` of size 1 becomes `size`, a power of two: each thread holds all repetitions of what it has, in its
/// highest registers.
LinearLayout repeatDim(const LinearLayout &layout, unsigned axis, int64_t size);

/// The layout of the first `size` elements along `axis`: every thread keeps what it holds of them, in order. None
/// unless register bits alone lead beyond them, each straight along `axis`.
std::optional<LinearLayout> firstPart(const LinearLayout &layout, unsigned axis, int64_t size);

/// The registers, ascending, that hold in some thread one of the first `size` elements along `axis`.
std::vector<int32_t> registersOfPart(const LinearLayout &layout, unsigned axis, int64_t size);

/// The same elements at the same coordinates of a larger tensor, of which they cover only a part.
LinearLayout embed(const LinearLayout &layout, std::vector<int64_t> shape);

/// Row-major reshape; the number of elements must be the same.
LinearLayout reshape(const LinearLayout &layout, std::vector<int64_t> newShape);

/// Dimension i of the result is dimension order[i] of `layout`.
LinearLayout permuteDims(const LinearLayout &layout, const std::vector<unsigned> &order);

/// Layout of join(a, b) where both have `layout`: a last dimension of size 2, selected by a new register bit 0.
LinearLayout joinLayout(const LinearLayout &layout);

/// The layout of a slice of `size` (a power of two) elements along `axis`, one of several equal ones.
struct SlicedLayout {
  LinearLayout layout;
  std::vector<unsigned> droppedBits; // register bits that select the slice, lowest first
  /// The register of the whole tensor in which register `index` of slice number `slice` lies.
  int32_t sourceRegister(int32_t index, int32_t slice) const;
};
/// None unless register bits alone select the slice.
std::optional<SlicedLayout> sliceDim(const LinearLayout &layout, unsigned axis, int64_t size);

} // namespace tile::layout
