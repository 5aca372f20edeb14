// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names are resolved to indices when a table is compiled. A lookup compares the call with all keys of its class.
#include "Runtime/TunedChoice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace tile::runtime {
namespace {

float logarithm(int64_t size) {
  return std::log2(static_cast<float>(std::max<int64_t>(size, 1)));
}

} // namespace

std::string toHex(const VariantSet &set) {
  std::string text;
  for (size_t i = set.size(); i > 0; i -= 4) {
    const unsigned digit = set[i - 4] | set[i - 3] << 1 | set[i - 2] << 2 | set[i - 1] << 3;
    if (digit != 0 || !text.empty() || i == 4)
      text += "0123456789abcdef"[digit];
  }
  return text;
}

std::optional<VariantSet> parseHex(std::string_view text) {
  VariantSet set;
  if (text.empty() || text.size() > set.size() / 4)
    return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = std::string_view("0123456789abcdef").find(text[text.size() - 1 - i]);
    if (digit == std::string_view::npos)
      return std::nullopt;
    for (size_t bit = 0; bit < 4; ++bit)
      set[4 * i + bit] = digit >> bit & 1;
  }
  return set;
}

Result<TunedChoice> TunedChoice::compile(const TuningTable &table, std::span<const Manifest *const> manifests) {
  TunedChoice tuned;
  const Manifest &general = *manifests[0];
  for (const std::string &name : table.parameters) {
    const Parameter *parameter = general.findParameter(name);
    if (!parameter || !parameter->isInteger())
      return makeError(TILE_ERROR_MANIFEST, "tuning table: '{}' is not an integer parameter of kernel '{}'", name,
                       general.kernel);
    tuned.slots.push_back(static_cast<uint16_t>(parameter - general.parameters.data()));
  }
  std::map<std::pair<std::vector<int64_t>, std::string>, std::vector<Timed>> sorted;
  for (const TuningEntry &entry : table.entries) {
    std::vector<Timed> &variants = sorted[{entry.sizes, entry.serves}];
    const size_t before = variants.size();
    for (size_t i = 0; i < manifests.size(); ++i) // one per target
      if (manifests[i]->variant == entry.variant)
        variants.push_back({entry.microseconds, i});
    if (variants.size() == before)
      return makeError(TILE_ERROR_MANIFEST, "tuning table: kernel '{}' has no variant '{}'", general.kernel,
                       entry.variant);
  }
  for (auto &[key, variants] : sorted) {
    const std::optional<VariantSet> serves = parseHex(key.second);
    if (!serves)
      return makeError(TILE_ERROR_MANIFEST, "tuning table: serves is '{}'; expected hexadecimal digits", key.second);
    std::stable_sort(variants.begin(), variants.end(), [](const Timed &a, const Timed &b) {
      return std::tie(a.microseconds, a.variant) < std::tie(b.microseconds, b.variant);
    });
    Key &added = tuned.keys.emplace_back(Key{*serves, key.first, {}, std::move(variants)});
    for (int64_t size : added.sizes)
      added.logarithms.push_back(logarithm(size));
  }
  return tuned;
}

std::optional<TunedChoice::Found> TunedChoice::find(std::span<const int64_t> values, const VariantSet &serves,
                                                    const VariantSet &candidates, bool anyDistance) const {
  std::array<float, TILE_MAX_PARAMETERS> logarithms;
  for (size_t i = 0; i < slots.size(); ++i)
    logarithms[i] = logarithm(values[slots[i]]);
  const Key *nearest = nullptr;
  float least = std::numeric_limits<float>::max();
  for (const Key &key : keys) {
    if (key.serves != serves)
      continue;
    float distance = 0, farthest = 0;
    bool isSame = true;
    for (size_t i = 0; i < slots.size(); ++i) {
      const float difference = std::abs(logarithms[i] - key.logarithms[i]);
      distance += difference * difference;
      farthest = std::max(farthest, difference);
      isSame &= values[slots[i]] == key.sizes[i];
    }
    if (!isSame && ((farthest > 1 && !anyDistance) || distance >= least))
      continue;
    nearest = &key;
    least = isSame ? -1 : distance; // an exact match cannot be beaten
  }
  if (!nearest)
    return std::nullopt;
  for (const Timed &timed : nearest->variants)
    if (candidates[timed.variant])
      return Found{timed.variant, least < 0 ? timed.microseconds : -1};
  return std::nullopt;
}

} // namespace tile::runtime
