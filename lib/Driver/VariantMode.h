// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects the kernels of an artifact: --variants=none|alignment|auto|all|invariant.
#pragma once

#include <optional>
#include <string_view>

namespace tile::driver {

enum class VariantMode {
  None,      ///< one kernel, chosen by assumptions and sizes
  Alignment, ///< one for each class of assumptions
  Auto,      ///< for each class of assumptions, the kernels that are fastest for some size
  All,       ///< every configuration that the cost model chooses for any size
  Invariant, ///< like Auto, but the summation order of a GEMM row depends only on the assumptions
};

constexpr std::optional<VariantMode> parseVariantMode(std::string_view name) {
  if (name == "none")
    return VariantMode::None;
  if (name == "alignment")
    return VariantMode::Alignment;
  if (name == "auto")
    return VariantMode::Auto;
  if (name == "all")
    return VariantMode::All;
  return name == "invariant" ? std::optional(VariantMode::Invariant) : std::nullopt;
}

} // namespace tile::driver
