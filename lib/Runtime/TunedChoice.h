// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tuning table in the form that launches use: indices instead of names, and lookup without allocation.
#pragma once

#include "Runtime/Pack.h"
#include "Runtime/Tuning.h"

#include <bitset>

namespace tile::runtime {

using VariantSet = std::bitset<maxVariants>;

/// Convert to and from hexadecimal digits such as "1f". The last digit stands for variants 0 to 3.
std::string toHex(const VariantSet &set);
std::optional<VariantSet> parseHex(std::string_view text);

class TunedChoice {
public:
  /// Compiles a table for the manifests of all variants. Rejects tables with unknown parameters or variants.
  static Result<TunedChoice> compile(const TuningTable &table, std::span<const Manifest *const> manifests);

  struct Found {
    size_t variant = 0;
    double microseconds = -1; ///< negative: the entry was measured for other sizes
  };
  /// Returns the variant among `candidates` that is fastest for a call. `serves` contains all variants that accept the
  /// call. `values` are the integer parameters of variant 0. With `anyDistance`, sizes may be arbitrarily far from the
  /// entry's.
  std::optional<Found> find(std::span<const int64_t> values, const VariantSet &serves, const VariantSet &candidates,
                            bool anyDistance) const;

  /// Returns the indices of the table's parameters among those of variant 0.
  const std::vector<uint16_t> &parameters() const { return slots; }

private:
  struct Timed {
    double microseconds;
    size_t variant;
  };
  /// The measurements for one class of calls and one list of sizes.
  struct Key {
    VariantSet serves;
    std::vector<int64_t> sizes;
    std::vector<float> logarithms; ///< logarithms of the sizes
    std::vector<Timed> variants;   ///< fastest first
  };

  std::vector<uint16_t> slots;
  std::vector<Key> keys; ///< sorted by sizes, so that ties between equally near keys are deterministic
};

} // namespace tile::runtime
