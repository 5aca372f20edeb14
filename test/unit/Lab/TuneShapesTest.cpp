// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests which calls are measured: samples are in range, half of them are multiples of 16, and shards together contain
// all of them.
#include "Lab/Tune/TuneShapes.h"

#include "TestBuffers.h"

#include <set>

using namespace tile::runner;
using tile::test::matmulManifest;

namespace {

int64_t sizeOf(const CallArguments &shape, const std::string &name) {
  for (const std::string &argument : shape)
    if (argument.starts_with(name + "="))
      return std::stoll(argument.substr(name.size() + 1));
  ADD_FAILURE() << "no " << name;
  return 0;
}

TEST(TuneShapes, samplesAreUniformInTheLogarithm) {
  Result<std::vector<CallArguments>> shapes =
      listShapes({{"M=4096..16777216", "K=100..110", "N=64"}, "", 2000, 7}, matmulManifest());
  ASSERT_TRUE(bool(shapes)) << shapes.error().message;
  int small = 0, odd = 0;
  for (size_t i = 0; i < shapes->size(); ++i) {
    const int64_t rows = sizeOf((*shapes)[i], "M"), depth = sizeOf((*shapes)[i], "K");
    EXPECT_TRUE(rows >= 4096 && rows <= 16777216) << rows;
    EXPECT_TRUE(depth >= 100 && depth <= 110) << depth; // range without a multiple of 16
    EXPECT_EQ(sizeOf((*shapes)[i], "N"), 64);
    small += rows < 262144; // half of the range on a logarithmic scale
    odd += rows % 16 != 0;
  }
  const auto count = static_cast<double>(shapes->size());
  EXPECT_NEAR(small / count, 0.5, 0.05);
  EXPECT_NEAR(odd / count, 0.5, 0.08); // odd sizes occur only in every other call
}

TEST(TuneShapes, theSeedDecides) {
  const ShapeRequest request{{"M=1..16384", "K=4..400"}, "", 50, 3};
  ShapeRequest other = request;
  other.seed = 4;
  EXPECT_EQ(*listShapes(request, matmulManifest()), *listShapes(request, matmulManifest()));
  EXPECT_NE(*listShapes(request, matmulManifest()), *listShapes(other, matmulManifest()));
  const std::vector<CallArguments> few = *listShapes({{"M=3..4"}, "", 100, 3}, matmulManifest());
  EXPECT_EQ(few.size(), 2u); // no call occurs twice
}

TEST(TuneShapes, shardsAreAllCalls) {
  std::set<size_t> seen;
  for (const char *text : {"1/3", "2/3", "3/3"}) {
    const Shard shard = *parseShard(text);
    for (size_t i = 0; i < 10; ++i)
      EXPECT_TRUE(!shard.has(i) || seen.insert(i).second);
  }
  EXPECT_EQ(seen.size(), 10u);
}

TEST(TuneShapes, negative_texts) {
  for (const char *text : {"", "1", "0/2", "3/2", "a/2", "1/2/3", "-1/2", "1/"})
    EXPECT_FALSE(bool(parseShard(text))) << text;
  for (const char *text : {"", "a", "0,0", "-1", "0,,1", "64"})
    EXPECT_FALSE(bool(parseDevices(text))) << text;
  EXPECT_EQ(*parseDevices("2,0"), (std::vector<int>{2, 0}));
  EXPECT_FALSE(bool(listShapes({{"M=0..8"}, "", 1, 0}, matmulManifest())));
  EXPECT_FALSE(bool(listShapes({{"M=1..9999999999"}, "", 1, 0}, matmulManifest())));
}

} // namespace
