// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of expressions (ExpressionTree.h) in "#:" directives. The front end accepts these names;
// lib/Runtime/Expression, lib/Runner/Check/TensorExpr and lib/Runner/Inputs/FillText evaluate them; unit tests call
// each.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tile::directives {

/// Names in integer expressions besides parameters: the number of multiprocessors of the GPU, and the rank and the
/// number of ranks in a run on several GPUs.
inline constexpr std::string_view integerNames[] = {"num_sms", "this_rank", "num_ranks"};

/// Functions that may be used in integer expressions: sizes, strides and grids.
inline constexpr std::string_view integerFunctions[] = {"cdiv", "min", "max", "next_power_of_2"};

/// Functions that may be used in `#: expect` expressions.
inline constexpr std::string_view tensorFunctions[] = {
    // element-wise
    "exp", "exp2", "log", "sqrt", "rsqrt", "abs", "floor", "rand", "tanh", "erf", "sigmoid", "silu", "maximum",
    "minimum", "where",
    // along an axis
    "sum", "max", "mean", "softmax", "transpose",
    // by index
    "index", "take", "repeat", "e2m1", "conv2d", "max_pool2d", "gather", "segment", "group_matmul", "ragged_matmul",
    "group_outer", "part", "concat",
    // of all ranks
    "peers"};

/// Fill functions that may appear in the default value of a buffer. A function without arguments may be written without
/// parentheses.
inline constexpr std::string_view fillings[] = {"random",  "uniform",   "special", "denormals", "zeros",
                                                "ones",    "full",      "arange",  "randint",   "permutation",
                                                "offsets", "addresses", "peers"};

template <size_t Count> constexpr bool contains(const std::string_view (&names)[Count], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Returns true if every row of a table of functions has one of these names.
template <typename Row, size_t Rows, size_t Count>
constexpr bool areListed(const Row (&rows)[Rows], const std::string_view (&names)[Count]) {
  return std::all_of(std::begin(rows), std::end(rows), [&](const Row &row) { return contains(names, row.name); });
}

} // namespace tile::directives
