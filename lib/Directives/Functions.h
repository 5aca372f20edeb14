// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of expressions (ExpressionTree.h) in "#:" directives. The front end accepts these names;
// lib/Runtime/Expression, lib/Runner/Check/TensorExpr and lib/Runner/Inputs/FillText evaluate them; unit tests call
// each.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tile::directives {

/// Names in integer expressions besides parameters: the number of multiprocessors of the GPU, and the rank and the
/// number of ranks in a run on several GPUs.
inline constexpr std::string_view integerNames[] = {"num_sms", "this_rank", "num_ranks"};

/// A function and the number of its arguments.
struct FunctionForm {
  std::string_view name;
  size_t fewest, most;
  bool hasAxis = false; ///< the last argument may be written "axis=..."
};

/// Functions that may be used in integer expressions: sizes, strides and grids.
inline constexpr FunctionForm integerFunctions[] = {
    {"cdiv", 2, 2}, {"min", 2, SIZE_MAX}, {"max", 2, SIZE_MAX}, {"next_power_of_2", 1, 1}};

/// Functions that may be used in `#: expect` expressions.
inline constexpr FunctionForm tensorFunctions[] = {
    // element-wise
    {"exp", 1, 1},
    {"exp2", 1, 1},
    {"log", 1, 1},
    {"sqrt", 1, 1},
    {"rsqrt", 1, 1},
    {"abs", 1, 1},
    {"floor", 1, 1},
    {"rand", 2, 2},
    {"tanh", 1, 1},
    {"erf", 1, 1},
    {"sigmoid", 1, 1},
    {"silu", 1, 1},
    {"maximum", 2, 2},
    {"minimum", 2, 2},
    {"where", 3, 3},
    // along an axis
    {"sum", 2, 2, true},
    {"max", 2, 2, true},
    {"mean", 2, 2, true},
    {"softmax", 1, 1},
    {"transpose", 1, 1},
    // by index
    {"index", 2, 2, true},
    {"take", 3, 3, true},
    {"repeat", 3, 3, true},
    {"e2m1", 1, 1},
    {"conv2d", 4, 4},
    {"max_pool2d", 3, 3},
    {"gather", 2, 2},
    {"segment", 3, 3, true},
    {"group_matmul", 3, 3},
    {"ragged_matmul", 4, 4},
    {"group_outer", 3, 3},
    {"part", 4, 4},
    {"concat", 2, 2},
    // of all ranks
    {"peers", 1, 1}};

/// Limit for the size of an expectation: all of its evaluation recurses along chains of operators.
inline constexpr size_t mostTensorOperations = 1000;

/// The largest axis that a reduction may name; negative axes count from the end.
inline constexpr int largestAxis = 8;

/// A fill function. One that needs no arguments may be written without parentheses.
struct FillForm {
  std::string_view name;
  size_t fewest, most; ///< minimum and maximum number of arguments besides the seed
  bool takesSeed;      ///< "seed=3"
  std::string_view spelling;

  /// Returns true for a possible number of arguments besides the seed.
  constexpr bool accepts(size_t count) const {
    const bool isHalf = name == "uniform" && count == 1; // of low and high
    return count >= fewest && count <= most && !isHalf;
  }
  /// Returns true if the only argument is the seed: random(3) is random(seed=3).
  constexpr bool takesPlainSeed() const { return takesSeed && most == 0; }
};

/// Fill functions that may appear in the default value of a buffer.
inline constexpr FillForm fillings[] = {{"random", 0, 0, true, "random or random(seed=3)"},
                                        {"uniform", 0, 2, true, "uniform or uniform(low, high)"},
                                        {"special", 0, 0, true, "special or special(seed=3)"},
                                        {"denormals", 0, 0, true, "denormals or denormals(seed=3)"},
                                        {"zeros", 0, 0, false, "zeros"},
                                        {"ones", 0, 0, false, "ones"},
                                        {"full", 1, 1, false, "full(value)"},
                                        {"arange", 0, 2, false, "arange, arange(first) or arange(first, step)"},
                                        {"randint", 2, 2, true, "randint(low, high) or randint(low, high, seed=3)"},
                                        {"permutation", 0, 1, false, "permutation or permutation(n)"},
                                        {"offsets", 1, 1, false, "offsets(total) or offsets(lengths)"},
                                        {"addresses", 1, 2, false, "addresses(buffer) or addresses(buffer, offsets)"},
                                        {"peers", 1, 1, false, "peers(buffer)"}};

template <size_t Count> constexpr bool contains(const std::string_view (&names)[Count], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

/// Returns the row of a table with this name, or null if there is none.
template <typename Row, size_t Count> constexpr const Row *find(const Row (&rows)[Count], std::string_view name) {
  const Row *row = std::find_if(std::begin(rows), std::end(rows), [&](const Row &known) { return known.name == name; });
  return row == std::end(rows) ? nullptr : row;
}

/// Returns the names of a table, for messages.
template <typename Row, size_t Count> constexpr std::array<std::string_view, Count> namesOf(const Row (&rows)[Count]) {
  std::array<std::string_view, Count> names;
  std::transform(std::begin(rows), std::end(rows), names.begin(), [](const Row &row) { return row.name; });
  return names;
}

/// Returns true if every row of a table of functions has one of these forms. `arityOf` returns the smallest number of
/// arguments of a row.
template <typename Row, size_t Rows, size_t Count, typename ArityOf>
constexpr bool areListed(const Row (&rows)[Rows], const FunctionForm (&forms)[Count], ArityOf arityOf) {
  return std::all_of(std::begin(rows), std::end(rows), [&](const Row &row) {
    const FunctionForm *form = find(forms, row.name);
    return form && form->fewest == arityOf(row);
  });
}

} // namespace tile::directives
