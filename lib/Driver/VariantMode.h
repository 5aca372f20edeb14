// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many kernels an artifact gets: --variants=none|alignment|auto|all|invariant.
#pragma once

#include <optional>
#include <string_view>

namespace tile::driver {

enum class VariantMode {
  None,      ///< one kernel, as promises and sizes say
  Alignment, ///< one for each set of promises
  Auto,      ///< for each set of promises those that sizes need
  All,       ///< every configuration that the cost model chooses for any size
  Invariant, ///< as Auto, but the order in which a row of a product is summed depends on nothing but the promises
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
