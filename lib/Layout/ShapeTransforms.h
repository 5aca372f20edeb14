// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Distributed layouts of reshaped tensors, for reshapes that move no element between threads.
//
//   reduce along 1:      [M, N] --removeDim 1-->  [M]
//   expand_dims:         [M]    --insertUnitDim 1--> [M, 1]      (the operand's layout is removeDim of the result's)
//   reshape, trans, join: exact, register by register
//
// `removeDim` leaves a zero basis where lanes or warps now hold copies, and drops register bits that only repeat
// elements of the same thread. To find the remaining register that corresponds to a register of the original layout,
// use conversionMap(removeDim(L, axis), projectDim(L, axis)).
#pragma once

#include "Layout/LinearLayout.h"

namespace tile::layout {

/// Drops the coordinate along `axis`. Keeps all bases, including those that become zero or dependent.
LinearLayout projectDim(const LinearLayout &layout, unsigned axis);

/// Removes each register bit whose basis is an XOR of the bases of lower register bits: the thread already holds these
/// elements.
LinearLayout dropDuplicateRegisters(const LinearLayout &layout);

/// Applies projectDim, then dropDuplicateRegisters.
LinearLayout removeDim(const LinearLayout &layout, unsigned axis);

/// Inserts a dimension of size 1 before `axis`.
LinearLayout insertUnitDim(const LinearLayout &layout, unsigned axis);

/// Expands dimension `axis`, of size 1, to `size`, a power of two. Each thread holds all repetitions of its elements,
/// in its highest register bits.
LinearLayout repeatDim(const LinearLayout &layout, unsigned axis, int64_t size);

/// Returns the layout of the first `size` elements along `axis`: every thread keeps its elements that are among these,
/// in order. Returns nullopt unless every basis vector that reaches an index >= `size` is a register basis that moves
/// along `axis` only.
std::optional<LinearLayout> firstPart(const LinearLayout &layout, unsigned axis, int64_t size);

/// Returns the registers in which at least one thread holds one of the first `size` elements along `axis`, in ascending
/// order.
std::vector<int32_t> registersOfPart(const LinearLayout &layout, unsigned axis, int64_t size);

/// Returns a layout that maps the same elements to the same coordinates of a larger tensor; it covers only part of that
/// tensor.
LinearLayout embed(const LinearLayout &layout, std::vector<int64_t> shape);

/// Reshapes in row-major order; the number of elements must be the same.
LinearLayout reshape(const LinearLayout &layout, std::vector<int64_t> newShape);

/// Permutes dimensions: dimension i of the result is dimension order[i] of `layout`.
LinearLayout permuteDims(const LinearLayout &layout, const std::vector<unsigned> &order);

/// Returns the layout of join(a, b), where a and b have `layout`. It has an additional last dimension of size 2, along
/// which the new register bit 0 steps.
LinearLayout joinLayout(const LinearLayout &layout);

/// The layout of a slice of `size` (a power of two) elements along `axis`, and how its registers correspond to those of
/// the tensor.
struct SlicedLayout {
  LinearLayout layout;
  std::vector<unsigned> droppedBits; // register bits that select the slice, lowest first
  /// Returns the register of the whole tensor that holds register `index` of slice `slice`.
  int32_t sourceRegister(int32_t index, int32_t slice) const;
};
/// Slices `layout` along `axis`; returns nullopt unless register bits alone select the slice.
std::optional<SlicedLayout> sliceDim(const LinearLayout &layout, unsigned axis, int64_t size);

} // namespace tile::layout
