// Counter-based random numbers; the header says why these and not the library's.
#include "Runner/Random.h"

namespace tile::runner {
namespace {

// Constants of splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
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

double randomNormal(uint64_t seed, uint64_t index) {
  const uint64_t sum = sumOfLanes(randomBits(seed, 2 * index)) + sumOfLanes(randomBits(seed, 2 * index + 1));
  // Mean 8 * 32767.5; variance 8 * (65536^2 - 1) / 12, whose root is 53509.919...
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

uint64_t seedFor(uint64_t seed, std::string_view name) {
  for (char c : name)
    seed = mix(seed + static_cast<unsigned char>(c) + 0x9e3779b97f4a7c15u);
  return seed;
}

} // namespace tile::runner
