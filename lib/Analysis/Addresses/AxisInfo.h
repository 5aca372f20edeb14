// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts about the integers or pointers of a value along each of its dimensions.
//
//   x = tile.arange 0 to 64 + tile.splat(%n), %n a multiple of 16:      16 17 18 19 | 32 33 … (%n = 16)
//     contiguity 64 (aligned groups of 64 elements count up by one), divisibility 16 (of the first of each group)
//   x / 16:   constancy 16 (aligned groups of 16 elements are equal)
//
// A scalar is treated like a tensor of one element. For pointers, "count up by one" means by the size of one pointee,
// and divisibility is in bytes. All facts are powers of two, at least 1. Floats and masks have only a constancy.
//
// Facts hold modulo 2^width. Where contiguity exceeds divisibility, a group may straddle the end of the integer range:
// such contiguity is correct only if the program's additions do not overflow, so use it for heuristics, not for proofs.
// The smaller of the two, min(contiguity, divisibility), always holds. Ranges are proven (IntegerRange.h).
//
// For offsets, more is assumed: index arithmetic does not overflow and run-time divisors are positive, because an
// access at a negative offset is a bug in the program. Under these assumptions, signed `%` preserves contiguity.
// Contiguity found in this way may be used for addresses only (`isAssumed`). No constancy is derived from it, because
// masks and values rely on constancy.
#pragma once

#include "Analysis/Addresses/IntegerRange.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>

namespace mlir {
class DataFlowSolver;
}

namespace tile {

struct AxisInfo {
  llvm::SmallVector<int64_t, 2> contiguity, divisibility, constancy; ///< One entry per dimension; a scalar has one.
  std::optional<int64_t> constant;                                   ///< The value of all elements, sign-extended.
  IntegerRange range;                                                ///< The range of all elements, for integers.
  /// Assumed non-negative because an address is computed from it; nothing else is known.
  bool nonNegativeOffset = false;
  bool isAssumed =
      false; ///< Whether contiguity rests on the assumptions about offsets, so that it may be used for addresses only.
  int64_t step = 1; ///< Distance between contiguous elements: 1, or the size of the pointee in bytes.

  /// The divisibility of zero, and the upper limit of every divisibility.
  static constexpr int64_t maxDivisibility = int64_t(1) << 62;

  /// Returns the facts of an unknown value.
  static AxisInfo unknown(mlir::Type type);
  /// Returns the facts of a value whose elements are all equal to `value`.
  static AxisInfo fromConstant(mlir::Type type, int64_t value);
  /// Returns the facts that hold for both values; a value that has not been reached (rank 0) is ignored.
  static AxisInfo join(const AxisInfo &lhs, const AxisInfo &rhs);

  unsigned getRank() const { return contiguity.size(); }
  int64_t getContiguity(unsigned dim) const { return contiguity[dim]; }
  int64_t getDivisibility(unsigned dim) const { return divisibility[dim]; }
  int64_t getConstancy(unsigned dim) const { return constancy[dim]; }
  /// Returns the contiguity of groups that start at aligned values: the largest group size for which neither an end of
  /// the integer range nor a multiple of the group size lies inside a group.
  int64_t getAlignedContiguity(unsigned dim) const;
  /// Splits the dimension into groups of `group` elements, where `group` is at most the contiguity, and returns the
  /// divisibility of the groups' first elements.
  int64_t getDivisibilityOfGroups(unsigned dim, int64_t group) const;
  /// Returns the divisibility of every element.
  int64_t getDivisibilityOfAll() const;
  bool isNonNegative() const { return range.isNonNegative(); }
  /// Returns true if the value is non-negative, either proven or assumed because it is an offset.
  bool isNonNegativeOffset() const { return nonNegativeOffset || isNonNegative(); }

  bool operator==(const AxisInfo &) const = default;
  /// Prints `contiguity = [64], divisibility = [16], constancy = [1], constant = 3, nonnegative`.
  void print(llvm::raw_ostream &os) const;
};

/// The facts of all values of a kernel. They are computed on construction and are valid until the IR changes.
class AxisInfoAnalysis {
public:
  explicit AxisInfoAnalysis(mlir::Operation *kernel);
  ~AxisInfoAnalysis();
  /// Returns a reference that lives as long as the analysis.
  const AxisInfo &get(mlir::Value value);

private:
  std::unique_ptr<mlir::DataFlowSolver> solver;
  llvm::DenseMap<mlir::Value, std::unique_ptr<AxisInfo>>
      unreached; ///< The facts of values in dead code, created by `get`.
};

} // namespace tile
