// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests when a check passes, and what it reports when it fails.
#include "Runner/Check/Check.h"

#include "TestBuffers.h"

#include <cmath>
#include <cstring>

using namespace tile::runner;
using tile::runtime::DataType;
using tile::runtime::Expectation;
using tile::test::makeBuffer;

namespace {

CheckResult check(const std::string &expression, const HostBuffer &input, const HostBuffer &output, double tolerance) {
  TensorNames names;
  names.buffers = {{"x", &input}, {"y", &output}};
  Result<CheckResult> result = checkOutput({"y", expression, tolerance}, names, output);
  EXPECT_TRUE(bool(result)) << (result ? "" : result.error().message);
  return result ? *result : CheckResult{};
}

const HostBuffer x = makeBuffer({2, 2}, {1, 2, 3, 4});

TEST(Check, equalPasses) {
  const CheckResult result = check("x + 1", x, makeBuffer({2, 2}, {2, 3, 4, 5}, DataType::F16), 0);
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.maxAbsError, 0);
  EXPECT_EQ(result.compared, 4);
}

TEST(Check, relativeNormIsTheBound) {
  const HostBuffer output = makeBuffer({2, 2}, {1, 2, 3, 4.1});
  EXPECT_NEAR(check("x", x, output, 1).relativeError, 0.1 / std::sqrt(30), 1e-12);
  EXPECT_TRUE(check("x", x, output, 0.02).passed);
  EXPECT_FALSE(check("x", x, output, 0.018).passed);
}

TEST(Check, oneWrongElementAmongManyFails) {
  std::vector<double> values(100000, 1.0);
  const HostBuffer input = makeBuffer({100000}, values);
  values[77777] = 1.2; // changes the relative norm by only 6e-4
  const CheckResult result = check("x", input, makeBuffer({100000}, values), 1e-3);
  EXPECT_LT(result.relativeError, 1e-3);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.wrongCount, 1);
  ASSERT_EQ(result.firstWrong.size(), 1u);
  EXPECT_EQ(result.firstWrong[0].index, (std::vector<int64_t>{77777}));
  EXPECT_EQ(result.firstWrong[0].actual, 1.2);
}

TEST(Check, nanPassesOnlyWhereItIsExpected) {
  EXPECT_FALSE(check("x", x, makeBuffer({2, 2}, {1, 2, 3, NAN}), 1e9).passed);
  EXPECT_FALSE(check("where(x > 3, 0 / 0, x)", x, makeBuffer({2, 2}, {1, 2, 3, 4}), 1e9).passed);
  const CheckResult result = check("where(x > 3, 0 / 0, x)", x, makeBuffer({2, 2}, {1, 2, 3, NAN}), 1e-3);
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.maxAbsError, 0);
  EXPECT_FALSE(check("x", x, makeBuffer({2, 2}, {1, 2, 3, INFINITY}), 1e9).passed);
}

TEST(Check, sameInfinityPasses) {
  const HostBuffer output = makeBuffer({2, 2}, {1, 2, 3, INFINITY});
  EXPECT_TRUE(check("where(x > 3, 1 / 0, x)", x, output, 1e-6).passed);
  EXPECT_FALSE(check("where(x > 3, -1 / 0, x)", x, output, 1e-6).passed);
}

TEST(Check, nanThatWasThereBeforeIsNotTheKernels) {
  for (DataType type : {DataType::F16, DataType::BF16, DataType::F32, DataType::F64, DataType::F8E5M2}) {
    HostBuffer forgotten = makeBuffer({2, 2}, {1, 2, 3, 4}, type);
    forgotten.poison();
    const CheckResult result = check("x * 0 / 0", x, forgotten, 1e9);
    EXPECT_EQ(result.wrongCount, 4);
    // Contents from another run are compared unchanged.
    Result<CheckResult> same = checkRecorded("y", forgotten, "file", 0, forgotten);
    EXPECT_TRUE(same && same->passed);
  }
}

TEST(Check, numbersBeyondTheTypeAreInfinite) {
  const HostBuffer large = makeBuffer({2}, {70000, -70000}), other = makeBuffer({2}, {7000, -70000});
  EXPECT_TRUE(check("x", large, makeBuffer({2}, {INFINITY, -INFINITY}, DataType::F16), 1e-3).passed);
  EXPECT_FALSE(check("x", large, makeBuffer({2}, {INFINITY, INFINITY}, DataType::F16), 1e-3).passed);
  EXPECT_FALSE(check("x", other, makeBuffer({2}, {INFINITY, -INFINITY}, DataType::F16), 1e-3).passed);
  EXPECT_FALSE(check("x", large, makeBuffer({2}, {INFINITY, -INFINITY}, DataType::F32), 1e-3).passed);
}

TEST(Check, zeroReferenceNeedsZeros) {
  EXPECT_TRUE(check("0", x, makeBuffer({2, 2}, {0, 0, 0, 0}), 1e-3).passed);
  EXPECT_FALSE(check("0", x, makeBuffer({2, 2}, {0, 0, 1e-30, 0}), 1e-3).passed);
}

TEST(Check, referenceBroadcasts) {
  EXPECT_TRUE(check("sum(x, 0)", x, makeBuffer({2, 2}, {4, 6, 4, 6}), 1e-12).passed);
  EXPECT_TRUE(check("sum(x, 1)", x, makeBuffer({2, 2}, {3, 3, 7, 7}), 1e-12).passed);
}

TEST(Check, emptyOutputPasses) {
  const HostBuffer input = makeBuffer({0, 4}, {});
  EXPECT_TRUE(check("x", input, makeBuffer({0, 4}, {}), 0).passed);
}

TEST(Check, largeMatmulsAreSampled) {
  const int64_t size = 1300; // 2 * 1300^3 = 4.4e9 operations
  HostBuffer input = makeBuffer({size, size}, std::vector<double>(size * size), DataType::I8);
  for (int64_t i = 0; i < size; ++i) // the matrix is twice the identity
    input.data()[i * size + i] = 2;
  HostBuffer output = makeBuffer({size, size}, std::vector<double>(size * size), DataType::F32);
  for (int64_t i = 0; i < size; ++i) {
    const float four = 4;
    std::memcpy(output.data() + (i * size + i) * 4, &four, 4);
  }
  const CheckResult right = check("x @ x", input, output, 1e-6);
  EXPECT_TRUE(right.passed);
  EXPECT_EQ(right.sampling, "66 rows and 66 columns");
  EXPECT_EQ(right.compared, 2 * 66 * size);
  const float wrong = 1; // the last row and column are always in the sample
  std::memcpy(output.data() + (size * size - 2) * 4, &wrong, 4);
  const CheckResult result = check("x @ x", input, output, 1e-6);
  EXPECT_FALSE(result.passed);
  EXPECT_EQ(result.firstWrong[0].index, (std::vector<int64_t>{size - 1, size - 2}));
}

TEST(Check, largeIntermediateResultsAreSampled) {
  const int64_t size = 20000, times = 65536; // 10 GB as a whole
  const HostBuffer input = makeBuffer({size, 1}, std::vector<double>(size, 2));
  const CheckResult result = check("sum(repeat(x, 65536, 1) + index(repeat(x, 65536, 1), 0) * 0, 1)", input,
                                   makeBuffer({size, 1}, std::vector<double>(size, 2 * times)), 1e-12);
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.sampling, "66 rows");
}

TEST(Check, negative_shapeOfTheReference) {
  TensorNames names;
  names.buffers = {{"x", &x}};
  const HostBuffer output = makeBuffer({3, 2}, {1, 2, 3, 4, 5, 6});
  Status status = validateExpectation({"y", "x", 1e-3}, names, output);
  ASSERT_FALSE(bool(status));
  EXPECT_NE(status.error().message.find("the expression has shape [2, 2], but 'y' has shape [3, 2]"),
            std::string::npos);
}

} // namespace
