// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Texts that fill buffers, and the errors of invalid ones.
#include "Runner/Inputs/BufferSource.h"

#include "TestBuffers.h"

#include <algorithm>
#include <numeric>

using namespace tile::runner;
using tile::test::valuesOf;

namespace {

/// Buffers of all kinds over n elements.
Manifest makeManifest() {
  const char *text = R"json({"schema": 1, "abi_version": 1, "kernel": "k", "entry": "k", "target": "sm_90a",
    "parameters": [
      {"name": "x", "type": "ptr<f16>", "buffer": {"shape": ["n", "4"], "strides": ["8", "1"]}},
      {"name": "lengths", "type": "ptr<i32>", "buffer": {"shape": ["n"]}},
      {"name": "starts", "type": "ptr<i64>", "buffer": {"shape": ["n + 1"]}},
      {"name": "table", "type": "ptr<u64>", "buffer": {"shape": ["n"]}},
      {"name": "small", "type": "ptr<i8>", "buffer": {"shape": ["2", "n"]}},
      {"name": "free", "type": "ptr<i32>"},
      {"name": "n", "type": "i32", "default": "4"}],
    "constants": {"BLOCK": 16},
    "launch": {"threads_per_cta": 128, "grid": ["1"]}})json";
  auto manifest = tile::runtime::parseManifest(text);
  EXPECT_TRUE(bool(manifest)) << (manifest ? "" : manifest.error().message);
  return *manifest;
}

const Manifest manifest = makeManifest();

Result<std::vector<FilledBuffer>> fill(std::vector<std::string> arguments, uint64_t seed = 0) {
  if (std::none_of(arguments.begin(), arguments.end(),
                   [](const std::string &text) { return text.starts_with("free"); }))
    arguments.push_back("free=[0]");
  Result<Bindings> bindings = Bindings::bind(manifest, arguments, 132);
  EXPECT_TRUE(bool(bindings)) << (bindings ? "" : bindings.error().message);
  return bindBuffers(manifest, *bindings, seed);
}

size_t indexOf(std::string_view name) {
  return static_cast<size_t>(manifest.findParameter(name) - manifest.parameters.data());
}

std::vector<double> valuesWith(std::string_view name, const std::vector<std::string> &arguments, uint64_t seed = 0) {
  Result<std::vector<FilledBuffer>> buffers = fill(arguments, seed);
  EXPECT_TRUE(bool(buffers)) << (buffers ? "" : buffers.error().message);
  return buffers ? valuesOf((*buffers)[indexOf(name)].buffer) : std::vector<double>();
}

using Values = std::vector<double>;

TEST(BufferSource, rangesAndLists) {
  EXPECT_EQ(valuesWith("lengths", {"lengths=arange"}), (Values{0, 1, 2, 3}));
  EXPECT_EQ(valuesWith("lengths", {"lengths=arange(5)"}), (Values{5, 6, 7, 8}));
  EXPECT_EQ(valuesWith("lengths", {"lengths=arange(BLOCK, -2**2)"}), (Values{16, 12, 8, 4}));
  EXPECT_EQ(valuesWith("lengths", {"lengths=[3, n * 2, cdiv(7, 2), -1]"}), (Values{3, 8, 4, -1}));
  EXPECT_EQ(valuesWith("small", {"n=2", "small=[[1, 2], [3, 4]]"}), (Values{1, 2, 3, 4}));
  EXPECT_EQ(valuesWith("x", {"n=1", "x=[0.5, 1 / n, -2, inf]"}), (Values{0.5, 1, -2, INFINITY}));
  EXPECT_EQ(valuesWith("free", {"free=[7, 8, 9,]"}), (Values{7, 8, 9}));
  EXPECT_EQ(valuesWith("lengths", {"lengths=full(n * 3)"}), (Values{12, 12, 12, 12}));
}

TEST(BufferSource, integersKeepAllBits) {
  Result<std::vector<FilledBuffer>> buffers = fill({"n=1", "starts=[2**53 + 1, -2**62 - 1]"});
  ASSERT_TRUE(bool(buffers)) << buffers.error().message;
  const std::vector<uint8_t> bytes = (*buffers)[indexOf("starts")].buffer.exportDense();
  int64_t values[2];
  std::memcpy(values, bytes.data(), sizeof values);
  EXPECT_EQ(values[0], (int64_t(1) << 53) + 1);
  EXPECT_EQ(values[1], -(int64_t(1) << 62) - 1);
}

TEST(BufferSource, randomIntegersAreInTheirRange) {
  const Values values = valuesWith("lengths", {"n=1000", "lengths=randint(-3, 5)"});
  EXPECT_EQ(*std::min_element(values.begin(), values.end()), -3);
  EXPECT_EQ(*std::max_element(values.begin(), values.end()), 4);
  EXPECT_NE(values, valuesWith("lengths", {"n=1000", "lengths=randint(-3, 5)"}, 1));
  EXPECT_EQ(valuesWith("lengths", {"lengths=randint(0, 99, seed=3)"}),
            valuesWith("lengths", {"lengths=randint(0, 99, seed=3)"}, 1));
}

TEST(BufferSource, unusualFloats) {
  const Values special = valuesWith("x", {"n=1000", "x=special"});
  EXPECT_TRUE(std::any_of(special.begin(), special.end(), [](double value) { return std::isnan(value); }));
  EXPECT_TRUE(std::any_of(special.begin(), special.end(), [](double value) { return value == -INFINITY; }));
  EXPECT_NE(special, valuesWith("x", {"n=1000", "x=special(seed=3)"}));
  const Values denormals = valuesWith("x", {"n=100", "x=denormals"});
  EXPECT_TRUE(std::all_of(denormals.begin(), denormals.end(), [](double value) { return std::abs(value) < 1e-3; }));
  EXPECT_NE(denormals, Values(denormals.size(), 0.0));
}

TEST(BufferSource, permutationsHaveEachNumberOnce) {
  Values values = valuesWith("lengths", {"n=100", "lengths=permutation"});
  EXPECT_FALSE(std::is_sorted(values.begin(), values.end()));
  std::sort(values.begin(), values.end());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], static_cast<double>(i));
  Values some = valuesWith("lengths", {"n=100", "lengths=permutation(n * 10)"});
  std::sort(some.begin(), some.end());
  EXPECT_EQ(std::unique(some.begin(), some.end()), some.end());
  EXPECT_GT(some.back(), 100);
  EXPECT_LT(some.back(), 1000);
}

TEST(BufferSource, offsetsAscend) {
  const Values random = valuesWith("starts", {"n=10", "starts=offsets(100)"});
  EXPECT_EQ(random.front(), 0);
  EXPECT_EQ(random.back(), 100);
  EXPECT_TRUE(std::is_sorted(random.begin(), random.end()));
  EXPECT_EQ(valuesWith("starts", {"lengths=[3, 0, 2, 5]", "starts=offsets(lengths)"}), (Values{0, 3, 3, 5, 10}));
}

TEST(BufferSource, addressesAreDistancesInBytesUntilADeviceAddsItsOwn) {
  Result<std::vector<FilledBuffer>> rows = fill({"table=addresses(x)"});
  ASSERT_TRUE(bool(rows)) << rows.error().message;
  EXPECT_EQ(valuesOf((*rows)[indexOf("table")].buffer), (Values{0, 16, 32, 48}));
  EXPECT_EQ((*rows)[indexOf("table")].pointsInto->parameter, indexOf("x"));
  EXPECT_FALSE((*rows)[indexOf("x")].pointsInto);
  EXPECT_EQ(valuesWith("table", {"table=addresses(x, 2)"}), (Values{0, 4, 8, 12}));
  EXPECT_EQ(valuesWith("table", {"table=addresses(x, starts)", "starts=offsets(lengths)", "lengths=[1, 2, 0, 4]"}),
            (Values{0, 2, 6, 6}));
  addAddress((*rows)[indexOf("table")].buffer, 1000);
  EXPECT_EQ(valuesOf((*rows)[indexOf("table")].buffer), (Values{1000, 1016, 1032, 1048}));
}

TEST(BufferSource, negative_whatIsWrong) {
  const std::pair<std::vector<std::string>, const char *> cases[] = {
      {{"lengths=[1, 2]"}, "buffer 'lengths' (ptr<i32>): the list has 2 elements, but the buffer has 4"},
      {{"lengths=[1, 2, 3, 4"}, "expected ']' before the end"},
      {{"lengths=[1, 2, m, 4]"}, "'m' is neither an integer parameter"},
      {{"small=arange(125)"}, "128 does not fit i8 (-128 to 127)"},
      {{"lengths=arange(0, 1, 2)"}, "is malformed; expected arange, arange(first) or arange(first, step)"},
      {{"lengths=arange(0, 2**62)"}, "4611686018427387904 does not fit i32"},
      {{"lengths=randint(4)"}, "is malformed; expected randint(low, high)"},
      {{"lengths=randint(4, 4)"}, "randint(4, 4) is empty"},
      {{"lengths=randint(0, 4, seed=-1)"}, "the seed '-1' is not a non-negative integer"},
      {{"x=random(foo=3)"}, "random has no parameter 'foo'; expected random or random(seed=3)"},
      {{"x=random(seed=3, seed=4)"}, "argument 'seed' is given twice"},
      {{"x=random(3, seed=4)"}, "'random(3, seed=4)' is malformed; expected random or random(seed=3)"},
      {{"x=zeros(seed=3)"}, "zeros has no parameter 'seed'; expected zeros"},
      {{"x=uniform(low=0, high=1)"}, "uniform has no parameter 'low'"},
      {{"x=uniform(1)"}, "'uniform(1)' is malformed; expected uniform or uniform(low, high)"},
      {{"x=bogus(3)"}, "'bogus' is not a fill function; for a file of this name, write ./bogus(3)"},
      {{"x=randon(3)"}, "'randon' is not a fill function; did you mean 'random'?"},
      {{"x=full(1e400)"}, "1e400 does not fit 64 bits"},
      {{"lengths=full(nan)"}, "'nan' is neither an integer parameter"},
      {{"lengths=permutation(3)"}, "4 distinct integers below 3"},
      {{"starts=offsets(-1)"}, "5 offsets up to -1"},
      {{"starts=offsets(x)"}, "buffer 'x' has elements of type f16; expected integers"},
      {{"lengths=offsets(lengths)"}, "it depends on itself"},
      {{"small=offsets(lengths)"}, "offsets of 4 lengths have 5 elements, but the buffer has 8"},
      {{"starts=offsets(table)", "table=addresses(x, starts)"}, "it depends on itself"},
      {{"lengths=addresses(x)"}, "expected elements of type i64 or u64"},
      {{"table=addresses(y)"}, "addresses: 'y' is not a buffer of the kernel"},
      {{"table=addresses(x, small)", "small=full(-1)"}, "address 0 is of element -1 of buffer 'x', which has 28"},
      {{"table=addresses(x, 10)"}, "address 3 is of element 30 of buffer 'x', which has 28"},
      {{"table=addresses(x, free)", "free=[0]"}, "addresses: 'free' has 1 elements, but the table 4"},
  };
  for (const auto &[arguments, expected] : cases) {
    Result<std::vector<FilledBuffer>> buffers = fill(arguments);
    ASSERT_FALSE(bool(buffers)) << expected;
    EXPECT_NE(buffers.error().message.find(expected), std::string::npos)
        << expected << "\n  got: " << buffers.error().message;
  }
}

} // namespace
