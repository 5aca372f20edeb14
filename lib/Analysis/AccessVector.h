// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many consecutive elements one thread can access in global memory with one instruction.
#pragma once

#include "Analysis/AxisInfo.h"
#include "Layout/LinearLayout.h"

namespace tile {

/// The largest v such that the registers r to r + v - 1 with r % v == 0 hold consecutive elements of one dimension.
int64_t getConsecutiveElements(const layout::LinearLayout &layout);

/// The largest v such that, for the layout of `pointer`, the registers r to r + v - 1 with r % v == 0 hold addresses
/// that are consecutive and aligned to v elements, `mask` (may be null) is the same for all of them, and they are at
/// most 16 bytes. 1 for a scalar, and if the thread's consecutive elements are not in its lowest register bits.
int64_t getAccessVector(mlir::Value pointer, mlir::Value mask, AxisInfoAnalysis &analysis);

/// The elements of 16 bytes, if addresses along `dim` are consecutive in groups of as many, but may start at any
/// element: neither wide accesses nor asynchronous copies take them, which need multiples of 4 bytes. Else 1. Elements
/// of 4 bytes and more are never so.
int64_t getUnalignedRun(mlir::Value pointer, unsigned dim, AxisInfoAnalysis &analysis);

/// As getAccessVector, of such groups: all of a thread's registers hold their elements, and `mask` (may be null) is the
/// same for as many of a group as are returned; 1 if there are none.
int64_t getUnalignedVector(mlir::Value pointer, mlir::Value mask, AxisInfoAnalysis &analysis);

} // namespace tile
