// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number of consecutive elements that one thread can access in global memory with one instruction.
#pragma once

#include "Analysis/AxisInfo.h"
#include "Layout/LinearLayout.h"

namespace tile {

/// Returns the largest v such that the registers r to r + v - 1 with r % v == 0 hold consecutive elements of one
/// dimension.
int64_t getConsecutiveElements(const layout::LinearLayout &layout);

/// Returns the largest v such that, in the layout of `pointer`, the registers r to r + v - 1 with r % v == 0 hold
/// addresses that are consecutive and aligned to v elements and span at most 16 bytes, and `mask` (may be null) is the
/// same for all of them. Returns 1 for a scalar, or if the thread's consecutive elements are not in its lowest register
/// bits.
int64_t getAccessVector(mlir::Value pointer, mlir::Value mask, AxisInfoAnalysis &analysis);

/// Returns the number of elements in 16 bytes if addresses along `dim` are consecutive in groups of that size but may
/// be unaligned, so that neither wide accesses nor asynchronous copies, which need multiples of 4 bytes, can be used.
/// Otherwise returns 1, for example for all elements of at least 4 bytes.
int64_t getUnalignedRun(mlir::Value pointer, unsigned dim, AxisInfoAnalysis &analysis);

/// Like getAccessVector, but for unaligned groups (getUnalignedRun). Returns the number of elements of a group over
/// which `mask` (may be null) is constant, provided that the thread's consecutive registers hold a whole group;
/// otherwise 1.
int64_t getUnalignedVector(mlir::Value pointer, mlir::Value mask, AxisInfoAnalysis &analysis);

} // namespace tile
