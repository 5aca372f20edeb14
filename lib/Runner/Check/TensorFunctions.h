// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of tensor expressions that look at places and neighbours, not at single elements or products:
//
//   index(x, axis)                     the position along the axis, in the shape of x
//   take(x, i, axis)                   element i along the axis, which stays with size 1
//   repeat(x, n, axis)                 each element along the axis n times in a row, as NumPy's repeat
//   conv2d(x, w, stride, padding)      x[N, C, H, W] with w[K, C, R, S], no flip, zeros around x; as PyTorch's conv2d
//   max_pool2d(x, size, stride)        the largest of size * size elements of the last two dimensions
//   gather(x, i)                       x[i]: parts of x along its first axis, by an array of numbers
//   segment(x, offsets, axis)          which g has offsets[g] <= position along the axis < offsets[g + 1]; else -1
//   group_matmul(a, b, offsets)        rows offsets[g] to offsets[g + 1] of a, times b[g]; other rows are zero
//   ragged_matmul(a, b, starts, ends)  rows starts[g] to ends[g] of a, times b[g]; other rows are zero
//   group_outer(a, b, offsets)         for each g, rows offsets[g] to offsets[g + 1] of a, transposed, times those of b
//   part(x, first, rows, columns)      elements first, first + 1, ... of x, in row-major order, as a matrix
//   concat(x, y)                       the elements of x, then those of y, in one dimension
//
// What is not an array is an integer: a number or an expression of integer parameters.
#pragma once

#include "Runner/Check/TensorExpr.h"

#include <functional>
#include <optional>
#include <span>

namespace tile::runner {

/// The part of a result that is asked for: of its last two dimensions some positions, or all.
struct ResultPart {
  const std::vector<int64_t> &shape;              ///< of the whole result
  std::span<const std::vector<int64_t>> operands; ///< whole shapes of the arrays
  Selection selection;

  /// Those of one of the last two dimensions; null: all. Nothing is selected from a dimension of size 1.
  const std::vector<int64_t> *selected(size_t axis) const;
  /// Where element `index` along `axis` of the part lies in the whole.
  int64_t position(size_t axis, int64_t index) const;
};

/// What that needs of an operand.
struct OperandPart {
  bool isRead = true; ///< else only its shape counts
  std::optional<std::vector<int64_t>> rows, columns;
};

struct TensorFunction {
  std::string_view name;
  size_t arrays;   ///< operands that are arrays; they come first
  size_t integers; ///< operands that are integers
  /// Shape of the result, or what is wrong with the operands.
  Result<std::vector<int64_t>> (*shape)(std::span<const std::vector<int64_t>> arrays,
                                        std::span<const int64_t> integers);
  /// Row-major values; `result` has its shape and its size, those of the part.
  void (*evaluate)(std::span<const Tensor> arrays, std::span<const int64_t> integers, const ResultPart &part,
                   Tensor &result);
  /// None, or no function: it is computed as a whole, since neighbours may lie anywhere.
  std::optional<OperandPart> (*operandPart)(size_t operand, std::span<const int64_t> integers,
                                            const ResultPart &part) = nullptr;
  /// Multiplications and additions for the part; no function: none. `valuesOf` evaluates an operand, such as offsets.
  double (*flops)(const std::function<Tensor(size_t operand)> &valuesOf, const ResultPart &part) = nullptr;
};

/// Those of GroupFunctions.cpp.
std::span<const TensorFunction> groupFunctions();

/// Null: there is no function of this name.
const TensorFunction *findTensorFunction(std::string_view name);

} // namespace tile::runner
