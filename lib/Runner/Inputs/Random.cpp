// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counter-based random numbers. The header explains why the standard library's generators are not used.
#include "Runner/Inputs/Random.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace tile::runner {
namespace {

// Returns mixed bits, with the constants of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
// generators", 2014).
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

uint64_t sumOfLanes(uint64_t bits) {
  return (bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48);
}

} // namespace

uint64_t randomBits(uint64_t seed, uint64_t counter) {
  return mix(mix(seed + 0x9e3779b97f4a7c15u) + (counter + 1) * 0x9e3779b97f4a7c15u);
}

double randomUniform(uint64_t seed, uint64_t index) {
  return static_cast<double>(randomBits(seed, index) >> 11) * 0x1p-53;
}

double randomNormal(uint64_t seed, uint64_t index) {
  const uint64_t sum = sumOfLanes(randomBits(seed, 2 * index)) + sumOfLanes(randomBits(seed, 2 * index + 1));
  // The mean is 8 * 32767.5; the variance is 8 * (65536^2 - 1) / 12, whose square root is 53509.919...
  return (static_cast<double>(sum) - 262140.0) * (1.0 / 53509.9197);
}

double randomElement(runtime::DataType type, uint64_t seed, uint64_t index) {
  if (runtime::isFloatType(type))
    return randomNormal(seed, index);
  const uint64_t bits = randomBits(seed, index) >> 60;
  if (type == runtime::DataType::I1)
    return static_cast<double>(bits & 1);
  return static_cast<double>(bits) - (runtime::isSignedType(type) ? 8 : 0);
}

namespace {

/// The limits of a floating-point type's range.
struct FloatRange {
  double largest, smallestNormal, smallest;
};

FloatRange rangeOf(runtime::DataType type) {
  switch (type) {
  case runtime::DataType::F16:
    return {65504, 0x1p-14, 0x1p-24};
  case runtime::DataType::BF16:
    return {0x1.fep127, 0x1p-126, 0x1p-133};
  case runtime::DataType::F8E4M3:
    return {448, 0x1p-6, 0x1p-9};
  case runtime::DataType::F8E5M2:
    return {57344, 0x1p-14, 0x1p-16};
  case runtime::DataType::F64:
    return {std::numeric_limits<double>::max(), 0x1p-1022, 0x1p-1074};
  default:
    return {std::numeric_limits<float>::max(), 0x1p-126, 0x1p-149};
  }
}

} // namespace

double specialElement(runtime::DataType type, uint64_t seed, uint64_t index) {
  const uint64_t bits = randomBits(seed ^ 1, index);
  if (bits % 32 != 0)
    return randomNormal(seed, index);
  const FloatRange range = rangeOf(type);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {0, infinity, range.largest, range.smallestNormal, range.smallest, 1};
  const uint64_t which = bits / 64 % (std::size(values) + 1);
  if (which == std::size(values))
    return std::numeric_limits<double>::quiet_NaN();
  return bits & 32 ? -values[which] : values[which];
}

double denormalElement(runtime::DataType type, uint64_t seed, uint64_t index) {
  const FloatRange range = rangeOf(type);
  const uint64_t bits = randomBits(seed, index);
  const auto steps = static_cast<uint64_t>(2 * range.smallestNormal / range.smallest);
  const double magnitude = static_cast<double>(bits / 2 % steps) * range.smallest;
  return bits & 1 ? -magnitude : magnitude;
}

double philoxUniform(double seed, double offset) {
  const uint64_t wideSeed = static_cast<uint64_t>(static_cast<int64_t>(seed));
  const uint64_t wideOffset = static_cast<uint64_t>(static_cast<int64_t>(offset));
  uint32_t counter[4] = {static_cast<uint32_t>(wideOffset), static_cast<uint32_t>(wideOffset >> 32), 0, 0};
  uint32_t key[2] = {static_cast<uint32_t>(wideSeed), static_cast<uint32_t>(wideSeed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const uint64_t product0 = uint64_t(0xD2511F53) * counter[0], product1 = uint64_t(0xCD9E8D57) * counter[2];
    const uint32_t next[4] = {
        static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
        static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
    std::copy(next, next + 4, counter);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  const int32_t word = static_cast<int32_t>(counter[0]);
  return static_cast<float>(word < 0 ? ~word : word) * 4.6566127342e-10f;
}

uint64_t seedFor(uint64_t seed, std::string_view name) {
  for (char c : name)
    seed = mix(seed + static_cast<unsigned char>(c) + 0x9e3779b97f4a7c15u);
  return seed;
}

} // namespace tile::runner
