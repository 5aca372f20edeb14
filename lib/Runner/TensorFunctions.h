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
//   part(x, first, rows, columns)      elements first, first + 1, ... of x, in row-major order, as a matrix
//   concat(x, y)                       the elements of x, then those of y, in one dimension
//
// What is not an array is an integer: a number or an expression of integer parameters.
#pragma once

#include "Runner/TensorExpr.h"

#include <span>

namespace tile::runner {

struct TensorFunction {
  std::string_view name;
  size_t arrays;   ///< operands that are arrays; they come first
  size_t integers; ///< operands that are integers
  /// Shape of the result, or what is wrong with the operands.
  Result<std::vector<int64_t>> (*shape)(std::span<const std::vector<int64_t>> arrays,
                                        std::span<const int64_t> integers);
  /// Row-major values; `result` has its shape and its size.
  void (*evaluate)(std::span<const Tensor> arrays, std::span<const int64_t> integers, Tensor &result);
};

/// Null: there is no function of this name.
const TensorFunction *findTensorFunction(std::string_view name);

} // namespace tile::runner
