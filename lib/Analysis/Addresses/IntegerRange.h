// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounds of integers, interpreted as signed. Integers wrap around, so the bounds of a value that may overflow are those
// of its type.
//
//   arange 0 to 64            0 to 63
//   u8 << 24, of 32 bits      any
//   75 / x, x unknown         -75 to 75
//   (x & 15) - 8              -8 to 7
//
// One property is assumed without proof: offsets of blocks, such as 64 * program_id + arange, fit into their type. In a
// grid that is too large for this, programs would access memory before the buffer. So a range also states how large a
// value gets in grids of usual size, and the product of a program id and a block size counts as wrapping around only if
// it does so in such grids.
#pragma once

#include "mlir/IR/Operation.h"

#include <limits>

namespace tile {

/// The maximum number of programs along the second and third dimension of the grid, including those of persistent
/// kernels. Launches with more programs are rejected (lib/Runtime/Grid.cpp).
inline constexpr int64_t largestOuterGrid = 1 << 22;

struct IntegerRange {
  int64_t smallest = std::numeric_limits<int64_t>::min();
  int64_t largest = std::numeric_limits<int64_t>::max();
  int64_t usual = std::numeric_limits<int64_t>::max(); ///< The largest value in grids of usual size.

  static IntegerRange ofConstant(int64_t value) { return {value, value, value}; }
  /// Returns the range of all values of an integer type; meaningless for other types.
  static IntegerRange ofType(mlir::Type type);
  /// Returns the range of program ids if there are at most `count` programs.
  static IntegerRange ofPrograms(int64_t count);

  bool isNonNegative() const { return smallest >= 0; }
  /// Returns the values that are in both ranges; the intersection must not be empty.
  IntegerRange intersect(const IntegerRange &other) const;
  /// Returns the smallest range that contains both.
  IntegerRange unite(const IntegerRange &other) const;
  /// Returns a range that contains both and is chosen such that repeated widening soon reaches a fixed point.
  IntegerRange widen(const IntegerRange &other) const;

  bool operator==(const IntegerRange &) const = default;
};

/// Returns the range of the only result of an `arith` operation on integers; the range of its type if there is no rule.
IntegerRange inferRange(mlir::Operation *op, llvm::ArrayRef<IntegerRange> operands);

} // namespace tile
