// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear algebra over GF(2), compared with enumeration of all vectors.

#include "RandomLayouts.h"

#include <gtest/gtest.h>

#include <set>

using namespace tile::layout;
using test::RandomLayouts;

namespace {

std::set<uint64_t> enumerate(const std::vector<uint64_t> &generators) {
  std::set<uint64_t> result;
  for (uint64_t combination = 0; combination < uint64_t(1) << generators.size(); ++combination) {
    uint64_t sum = 0;
    for (size_t index = 0; index < generators.size(); ++index)
      sum ^= combination >> index & 1 ? generators[index] : 0;
    result.insert(sum);
  }
  return result;
}

std::vector<uint64_t> randomVectors(RandomLayouts &random, unsigned count, unsigned bits) {
  std::vector<uint64_t> result(count);
  for (uint64_t &vector : result)
    vector = random.below(1u << bits);
  return result;
}

} // namespace

TEST(Span, ContainsExactlyTheCombinations) {
  RandomLayouts random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint64_t> vectors = randomVectors(random, random.below(7), 6);
    std::set<uint64_t> expected = enumerate(vectors);
    Span span(vectors);
    EXPECT_EQ(expected.size(), size_t(1) << span.dimension());
    for (uint64_t vector = 0; vector < 64; ++vector)
      EXPECT_EQ(expected.count(vector) == 1, span.contains(vector));
  }
}

TEST(Span, ExpressGivesTheLowestCombination) {
  RandomLayouts random(2);
  for (int round = 0; round < 200; ++round) {
    BitMatrix matrix(5, randomVectors(random, 7, 5));
    Span span(matrix.columns());
    for (uint64_t target = 0; target < 32; ++target) {
      std::optional<uint64_t> lowest;
      for (uint64_t x = 0; x < 128 && !lowest; ++x)
        if (matrix.apply(x) == target)
          lowest = x;
      EXPECT_EQ(span.express(target), lowest);
    }
  }
}

TEST(Span, HoldsTheTopBit) {
  Span span({uint64_t(1) << 63, 1});
  EXPECT_EQ(span.express(uint64_t(1) << 63 | 1), 3u);
  EXPECT_FALSE(span.contains(2));
}

TEST(BitMatrix, ApplyIsLinear) {
  RandomLayouts random(3);
  BitMatrix matrix(6, randomVectors(random, 6, 6));
  for (uint64_t x = 0; x < 64; ++x)
    for (uint64_t y = 0; y < 64; ++y)
      EXPECT_EQ(matrix.apply(x ^ y), matrix.apply(x) ^ matrix.apply(y));
}

TEST(Subspaces, IntersectionMatchesEnumeration) {
  RandomLayouts random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<uint64_t> a = randomVectors(random, random.below(6), 6), b = randomVectors(random, random.below(6), 6);
    std::set<uint64_t> inA = enumerate(a), inB = enumerate(b), both;
    std::set_intersection(inA.begin(), inA.end(), inB.begin(), inB.end(), std::inserter(both, both.end()));
    EXPECT_EQ(enumerate(intersectSpans(a, b)), both);
  }
}

TEST(Subspaces, ComplementCompletesToTheWholeSpace) {
  RandomLayouts random(8);
  for (int round = 0; round < 100; ++round) {
    std::vector<uint64_t> vectors = randomVectors(random, random.below(7), 6);
    std::vector<uint64_t> all = independentSubset(vectors), complement = complementBasis(vectors, 6);
    all.insert(all.end(), complement.begin(), complement.end());
    EXPECT_EQ(all.size(), 6u);
    EXPECT_EQ(enumerate(all).size(), 64u);
  }
}
