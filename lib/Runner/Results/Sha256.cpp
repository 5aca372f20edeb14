// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Runner/Results/Sha256.h"

#include <array>
#include <bit>
#include <cstdint>
#include <fmt/format.h>

namespace tile::runner {

namespace {

constexpr size_t blockBytes = 64, lengthBytes = 8;
constexpr unsigned rounds = 64;

using State = std::array<uint32_t, 8>;

/// Returns the first 32 bits of the fractional part of the square root (degree 2) or cube root (degree 3) of a small
/// integer.
uint32_t fractionOfRoot(uint32_t number, unsigned degree) {
  // Computes floor(root * 2^32) bit by bit from the top. The integers are below 512, so roots are below 2^5 and powers
  // are below 2^111.
  using Wide = unsigned __int128;
  uint64_t root = 0;
  for (unsigned bit = 37; bit-- > 0;) {
    const uint64_t candidate = root | uint64_t(1) << bit;
    const Wide square = Wide(candidate) * candidate;
    const bool isBelow = degree == 2 ? square <= Wide(number) << 64 : square <= (Wide(number) << 96) / candidate;
    if (isBelow)
      root = candidate;
  }
  return uint32_t(root);
}

/// The constants of the algorithm, computed from roots of the first primes.
struct Constants {
  State initial;
  std::array<uint32_t, rounds> round;

  Constants() {
    unsigned found = 0;
    for (uint32_t number = 2; found < rounds; ++number) {
      bool isPrime = true;
      for (uint32_t divisor = 2; divisor * divisor <= number; ++divisor)
        isPrime &= number % divisor != 0;
      if (!isPrime)
        continue;
      if (found < initial.size())
        initial[found] = fractionOfRoot(number, 2);
      round[found++] = fractionOfRoot(number, 3);
    }
  }
};

uint32_t bigEndian(const char *bytes) {
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i)
    value = value << 8 | uint8_t(bytes[i]);
  return value;
}

void addBlock(const Constants &constants, State &state, const char *block) {
  std::array<uint32_t, rounds> words;
  for (unsigned i = 0; i < 16; ++i)
    words[i] = bigEndian(block + 4 * i);
  for (unsigned i = 16; i < rounds; ++i) {
    const uint32_t early = words[i - 15], late = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ early >> 3) + words[i - 7] +
               (std::rotr(late, 17) ^ std::rotr(late, 19) ^ late >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (unsigned i = 0; i < rounds; ++i) {
    const uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                           constants.round[i] + words[i];
    const uint32_t second = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  const State changed = {a, b, c, d, e, f, g, h};
  for (unsigned i = 0; i < state.size(); ++i)
    state[i] += changed[i];
}

} // namespace

std::string sha256(std::string_view bytes) {
  static const Constants constants;
  State state = constants.initial;
  const size_t whole = bytes.size() / blockBytes * blockBytes;
  for (size_t at = 0; at < whole; at += blockBytes)
    addBlock(constants, state, bytes.data() + at);
  // The padding: a 1 bit, zeros, and the length in bits.
  std::string tail(bytes.substr(whole));
  tail += char(0x80);
  tail.resize((tail.size() + lengthBytes + blockBytes - 1) / blockBytes * blockBytes - lengthBytes, '\0');
  for (unsigned i = lengthBytes; i-- > 0;)
    tail += char(uint64_t(bytes.size()) * 8 >> (8 * i));
  for (size_t at = 0; at < tail.size(); at += blockBytes)
    addBlock(constants, state, tail.data() + at);
  std::string text;
  for (uint32_t word : state)
    text += fmt::format("{:08x}", word);
  return text;
}

} // namespace tile::runner
