// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known about the integers or pointers of a value along each of its dimensions.
//
//   x = tile.arange 0 to 64 + tile.splat(%n), %n a multiple of 16:      16 17 18 19 | 32 33 … (%n = 16)
//     contiguity 64 (aligned groups of 64 elements count up by one), divisibility 16 (of the first of each group)
//   x / 16:   constancy 16 (aligned groups of 16 elements are equal)
//
// A scalar is like a tensor of one element. For pointers "count up by one" means one pointee, and divisibility is in
// bytes. All numbers are powers of two, at least 1. Floats and masks have a constancy only.
//
// Facts hold modulo 2^width. Where contiguity exceeds divisibility a group may straddle the end of the number range:
// such contiguity is right if the program's additions do not overflow, so use it to choose, not to prove; the aligned
// part, min(contiguity, divisibility), always holds. Ranges are proven (IntegerRange.h).
//
// More is assumed of offsets: that index arithmetic does not overflow and that runtime divisors are positive, since an
// access at a negative offset is an error of the program. Signed `%` of such offsets keeps contiguity, which then holds
// for addresses alone: constancy, of which masks and values are made, does not follow from it.
#pragma once

#include "Analysis/IntegerRange.h"

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
  llvm::SmallVector<int64_t, 2> contiguity, divisibility, constancy; ///< One entry a dimension; a scalar has one.
  std::optional<int64_t> constant;                                   ///< The value of all elements, sign-extended.
  IntegerRange range;                                                ///< Of integers, of all elements.
  bool nonNegativeOffset = false; ///< Not negative where an address follows from it, and nothing else is known.
  bool isAssumed = false;         ///< Contiguity holds for addresses alone.
  int64_t step = 1;               ///< Between contiguous elements: 1, or the bytes of a pointee.

  /// Divisibility of zero, and the limit for all others.
  static constexpr int64_t maxDivisibility = int64_t(1) << 62;

  /// Nothing is known.
  static AxisInfo unknown(mlir::Type type);
  /// Every element is `value`.
  static AxisInfo fromConstant(mlir::Type type, int64_t value);
  /// What holds for both; values that no execution reaches (rank 0) do not count.
  static AxisInfo join(const AxisInfo &lhs, const AxisInfo &rhs);

  unsigned getRank() const { return contiguity.size(); }
  int64_t getContiguity(unsigned dim) const { return contiguity[dim]; }
  int64_t getDivisibility(unsigned dim) const { return divisibility[dim]; }
  int64_t getConstancy(unsigned dim) const { return constancy[dim]; }
  /// Contiguity that starts at aligned values: the size of groups that no range limit and no multiple of it cuts.
  int64_t getAlignedContiguity(unsigned dim) const;
  /// Divisibility of the first elements of groups of `group` elements, at most the contiguity.
  int64_t getDivisibilityOfGroups(unsigned dim, int64_t group) const;
  /// Divisibility of every element.
  int64_t getDivisibilityOfAll() const;
  bool isNonNegative() const { return range.isNonNegative(); }
  /// Whether no address that follows from the value is before its buffer.
  bool isNonNegativeOffset() const { return nonNegativeOffset || isNonNegative(); }

  bool operator==(const AxisInfo &) const = default;
  /// `contiguity = [64], divisibility = [16], constancy = [1], constant = 3, nonnegative`
  void print(llvm::raw_ostream &os) const;
};

/// The facts of all values of a kernel. They are computed on construction and hold until the IR changes.
class AxisInfoAnalysis {
public:
  explicit AxisInfoAnalysis(mlir::Operation *kernel);
  ~AxisInfoAnalysis();
  /// The reference lives as long as the analysis.
  const AxisInfo &get(mlir::Value value);

private:
  std::unique_ptr<mlir::DataFlowSolver> solver;
  llvm::DenseMap<mlir::Value, std::unique_ptr<AxisInfo>> unreached; ///< Values in dead code, on demand.
};

} // namespace tile
