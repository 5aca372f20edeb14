// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers for the files that implement functions of tensor expressions: names of operands, and error messages about
// them.
#pragma once

#include "Runner/Check/TensorFunctions.h"

#include <fmt/ranges.h>

namespace tile::runner {

using Shape = std::vector<int64_t>;
using Arrays = std::span<const Tensor>;
using Shapes = std::span<const Shape>;
using Integers = std::span<const int64_t>;

/// The number of result elements per task.
inline constexpr int64_t functionGrain = 1 << 12;

inline Error wrong(std::string message) {
  return runtime::makeError(TILE_ERROR_INVALID_ARGUMENT, "{}", message);
}

inline std::string show(const Shape &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

} // namespace tile::runner
