// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The number of consecutive elements that one thread can access in global memory with one instruction.
#pragma once

#include "Analysis/Addresses/AxisInfo.h"
#include "Layout/LinearLayout.h"

namespace tile {

/// Returns the largest v such that, for every r that is a multiple of v, the registers r to r + v - 1 hold consecutive
/// elements of one dimension.
int64_t getConsecutiveElements(const layout::LinearLayout &layout);

/// Returns the largest v such that, for every r that is a multiple of v, the registers r to r + v - 1 of the layout of
/// `pointer` hold consecutive addresses that are aligned to v elements and span at most 16 bytes, and have the same
/// element of `mask` (may be null). Returns 1 for a scalar, or if the thread's consecutive elements are not in its
/// lowest register bits.
int64_t getAccessVector(mlir::Value pointer, mlir::Value mask, AxisInfoAnalysis &analysis);

/// If addresses along `dim` are consecutive in groups of 16 bytes, but groups may start at any element, returns the
/// number of elements in 16 bytes. Such groups allow neither wide accesses nor asynchronous copies, whose sizes are
/// multiples of 4 bytes. Otherwise returns 1, for example for all elements of at least 4 bytes.
int64_t getUnalignedRun(mlir::Value pointer, unsigned dim, AxisInfoAnalysis &analysis);

/// Like getAccessVector, but for unaligned groups (getUnalignedRun). Returns the number of elements of a group over
/// which `mask` (may be null) is constant, provided that the thread's consecutive registers hold a whole group;
/// otherwise 1.
int64_t getUnalignedVector(mlir::Value pointer, mlir::Value mask, AxisInfoAnalysis &analysis);

} // namespace tile
