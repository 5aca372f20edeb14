// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 64-bit hashes that are the same on all machines and in all versions: they are stored in artifacts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tile::order {

/// Mixes a word into a hash (the finalizer of SplitMix64, which is a bijection of the sum).
constexpr uint64_t mix(uint64_t hash, uint64_t word) {
  uint64_t x = hash * 0x9E3779B97F4A7C15ull + word + 0x632BE59BD9B4E019ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

constexpr uint64_t mix(uint64_t hash, std::string_view text) {
  for (const char c : text)
    hash = mix(hash, uint64_t(static_cast<unsigned char>(c)));
  return mix(hash, uint64_t(text.size()));
}

/// Returns 16 hexadecimal digits.
inline std::string hexOf(uint64_t hash) {
  std::string text(16, '0');
  for (size_t i = text.size(); i-- > 0; hash >>= 4)
    text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

} // namespace tile::order
