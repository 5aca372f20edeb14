// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of tensor expressions that depend on positions or neighbours, in addition to element-wise operations and
// matrix multiplication:
//
//   index(x, axis)                     the position along the axis, in the shape of x
//   take(x, i, axis)                   element i along the axis, which stays with size 1
//   repeat(x, n, axis)                 each element along the axis n times in a row, as NumPy's repeat
//   e2m1(x)                            bytes along the last axis as two 4-bit floats each, the low half first
//   conv2d(x, w, stride, padding)      x[N, C, H, W] with w[K, C, R, S], no flip, zeros around x; as PyTorch's conv2d
//   max_pool2d(x, size, stride)        the maximum of size * size elements of the last two dimensions
//   gather(x, i)                       x[i]: slices of x along its first axis, selected by an index array
//   segment(x, offsets, axis)          the g with offsets[g] <= position along the axis < offsets[g + 1], or -1
//   group_matmul(a, b, offsets)        rows offsets[g] to offsets[g + 1] of a, times b[g]; other rows are zero
//   ragged_matmul(a, b, starts, ends)  rows starts[g] to ends[g] of a, times b[g]; other rows are zero
//   group_outer(a, b, offsets)         for each g, rows offsets[g] to offsets[g + 1] of a, transposed, times those of b
//   part(x, first, rows, columns)      elements first, first + 1, ... of x, in row-major order, as a matrix
//   concat(x, y)                       the elements of x, then those of y, in one dimension
//
// The operands that are not arrays are integers: numbers or expressions over integer parameters.
#pragma once

#include "Runner/Check/TensorExpr.h"

#include <functional>
#include <optional>
#include <span>

namespace tile::runner {

/// The requested part of a result: all or selected positions of its last two dimensions.
struct ResultPart {
  const std::vector<int64_t> &shape;              ///< shape of the whole result
  std::span<const std::vector<int64_t>> operands; ///< complete shapes of the array operands
  Selection selection;

  /// Returns the selected positions along one of the last two dimensions, or null for all. A dimension of size 1
  /// broadcasts, so it has no selection.
  const std::vector<int64_t> *selected(size_t axis) const;
  /// Returns the position, in the whole result, of element `index` of the part along `axis`.
  int64_t position(size_t axis, int64_t index) const;
};

/// The part of an operand that is needed.
struct OperandPart {
  bool isRead = true; ///< false: only the shape is needed
  std::optional<std::vector<int64_t>> rows, columns;
};

struct TensorFunction {
  std::string_view name;
  size_t arrays;   ///< number of array operands, which come first
  size_t integers; ///< number of integer operands
  /// Returns the shape of the result, or an error about the operands.
  Result<std::vector<int64_t>> (*shape)(std::span<const std::vector<int64_t>> arrays,
                                        std::span<const int64_t> integers);
  /// Computes row-major values; `result` has the shape and size of the part.
  void (*evaluate)(std::span<const Tensor> arrays, std::span<const int64_t> integers, const ResultPart &part,
                   Tensor &result);
  /// Returns the part of an operand that is needed. If it is nullopt, or if this function is null, operands are
  /// computed completely, since any element may be needed.
  std::optional<OperandPart> (*operandPart)(size_t operand, std::span<const int64_t> integers,
                                            const ResultPart &part) = nullptr;
  /// Returns the number of multiplications and additions for the part; null: there are none. `valuesOf` evaluates an
  /// operand, such as the offsets.
  double (*flops)(const std::function<Tensor(size_t operand)> &valuesOf, const ResultPart &part) = nullptr;
};

/// Returns the functions of GroupFunctions.cpp.
std::span<const TensorFunction> groupFunctions();

/// Returns the function with this name, or null if there is none.
const TensorFunction *findTensorFunction(std::string_view name);

} // namespace tile::runner
