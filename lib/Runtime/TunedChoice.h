// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuning table as the choice at launch uses it: numbers instead of names, and a look-up without heap.
#pragma once

#include "Runtime/Pack.h"
#include "Runtime/Tuning.h"

#include <bitset>

namespace tile::runtime {

using VariantSet = std::bitset<mostVariants>;

/// "1f" and back: the last digit has variants 0 to 3.
std::string toHex(const VariantSet &set);
std::optional<VariantSet> parseHex(std::string_view text);

class TunedChoice {
public:
  /// The manifests of all variants. Refuses tables that name parameters or variants that there are not.
  static Result<TunedChoice> compile(const TuningTable &table, std::span<const Manifest *const> manifests);

  struct Found {
    size_t variant = 0;
    double microseconds = -1; ///< below 0: measured for other sizes
  };
  /// The variant for a call that the variants `serves` serve: one of `candidates`. `values` has the integer parameters
  /// of variant 0.
  std::optional<Found> find(std::span<const int64_t> values, const VariantSet &serves, const VariantSet &candidates,
                            bool anyDistance) const;

  /// Parameters of variant 0.
  const std::vector<uint16_t> &parameters() const { return slots; }

private:
  struct Timed {
    double microseconds;
    size_t variant;
  };
  /// What was measured for one class and one list of sizes.
  struct Key {
    VariantSet serves;
    std::vector<int64_t> sizes;
    std::vector<float> logarithms; ///< of the sizes
    std::vector<Timed> variants;   ///< fastest first
  };

  std::vector<uint16_t> slots;
  std::vector<Key> keys; ///< sorted by sizes, so that the first of equally near ones is always the same
};

} // namespace tile::runtime
