// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor expressions against values computed by hand, selections against the whole, and errors.
#include "Directives/Functions.h"
#include "Runner/Check/Matmul.h"
#include "Runner/Inputs/Random.h"
#include "TestBuffers.h"

#include <cmath>

using namespace tile::runner;
using tile::test::makeBuffer;

namespace {

class TensorExprTest : public testing::Test {
protected:
  TensorExprTest()
      : a(makeBuffer({2, 3}, {1, 2, 3, 4, 5, 6})), b(makeBuffer({3, 2}, {1, 0, -1, 2, 0.5, 1})),
        v(makeBuffer({3}, {10, 20, 30})), col(makeBuffer({2, 1}, {100, 200})), empty(makeBuffer({2, 0}, {})) {
    names.buffers = {{"a", &a}, {"b", &b}, {"v", &v}, {"col", &col}, {"empty", &empty}};
    names.scalars = {{"alpha", 2}, {"eps", 0.25}};
  }

  Tensor evaluate(const std::string &text, const Selection &selection = {}) {
    Result<TensorExpression> expression = TensorExpression::parse(text);
    EXPECT_TRUE(bool(expression)) << (expression ? "" : expression.error().message);
    if (!expression)
      return {};
    Result<BoundTensorExpression> bound = BoundTensorExpression::bind(*expression, names);
    EXPECT_TRUE(bool(bound)) << (bound ? "" : bound.error().message);
    return bound ? bound->evaluate(selection) : Tensor{};
  }

  std::string errorOf(const std::string &text) {
    Result<TensorExpression> expression = TensorExpression::parse(text);
    if (!expression)
      return expression.error().message;
    Result<BoundTensorExpression> bound = BoundTensorExpression::bind(*expression, names);
    return bound ? "no error" : bound.error().message;
  }

  void expectValues(const std::string &text, std::vector<int64_t> shape, std::vector<double> values) {
    const Tensor result = evaluate(text);
    EXPECT_EQ(result.shape, shape) << text;
    ASSERT_EQ(result.values.size(), values.size()) << text;
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(result.values[i], values[i], 1e-14 * (1 + std::fabs(values[i]))) << text << " at " << i;
  }

  HostBuffer a, b, v, col, empty;
  TensorNames names;
};

TEST_F(TensorExprTest, groups) {
  const HostBuffer offsets = makeBuffer({4}, {0, 1, 1, 3}), w = makeBuffer({3, 2, 1}, {1, 2, 10, 20, 100, 200});
  const HostBuffer rows = makeBuffer({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), index = makeBuffer({2, 2}, {1, 0, 1, 7});
  names.buffers["offsets"] = &offsets;
  names.buffers["w"] = &w;
  names.buffers["rows"] = &rows;
  names.buffers["index"] = &index;
  // The second group has no rows, the last row no group.
  expectValues("group_matmul(rows, w, offsets)", {4, 1}, {5, 1100, 1700, 0});
  const HostBuffer starts = makeBuffer({3}, {0, 2, 2}), ends = makeBuffer({3}, {1, 2, 4});
  names.buffers["starts"] = &starts;
  names.buffers["ends"] = &ends;
  expectValues("ragged_matmul(rows, w, starts, ends)", {4, 1}, {5, 0, 1700, 2300});
  expectValues("group_outer(rows, part(rows, 0, 4, 1), offsets)", {3, 2, 1}, {1, 2, 0, 0, 21, 26});
  expectValues("segment(rows, offsets, 0)", {4, 2}, {0, 0, 2, 2, 2, 2, -1, -1});
  expectValues("segment(rows, offsets, -1)", {4, 2}, {0, 2, 0, 2, 0, 2, 0, 2});
  expectValues("part(rows, 1, 2, 3)", {2, 3}, {2, 3, 4, 5, 6, 7});
  expectValues("concat(v, part(rows, 0, 1, 2) @ part(rows, 2, 2, 1))", {4}, {10, 20, 30, 11});
  expectValues("gather(rows, take(index, 0, 0))", {1, 2, 2}, {3, 4, 1, 2});
  EXPECT_TRUE(std::isnan(evaluate("gather(v, index)").values[3]));
  EXPECT_NE(errorOf("part(rows, 1, 2, 4)").find("which has 8"), std::string::npos) << errorOf("part(rows, 1, 2, 4)");
  EXPECT_NE(errorOf("group_matmul(rows, rows, offsets)").find("are not [M, K], [G, K, N] and [G + 1]"),
            std::string::npos);
  EXPECT_NE(errorOf("ragged_matmul(rows, w, offsets, ends)").find("are not [M, K], [G, K, N], [G] and [G]"),
            std::string::npos);
  EXPECT_NE(errorOf("group_outer(rows, w, offsets)").find("are not [M, K], [M, N] and [G + 1]"), std::string::npos);
  EXPECT_NE(errorOf("segment(rows, offsets, 2)").find("axis 2 does not exist in shape [4, 2]"), std::string::npos);
  EXPECT_NE(errorOf("segment(rows, rows, 0)").find("expected one dimension"), std::string::npos);
  EXPECT_NE(errorOf("gather(1, index)").find("the array is a scalar"), std::string::npos);
}

TEST_F(TensorExprTest, arithmeticAndPrecedence) {
  expectValues("1 + 2 * 3 - 4 / 8", {}, {6.5});
  expectValues("-2 * -(1 + 1)", {}, {4});
  expectValues("1 - 2 - 3", {}, {-4});
  expectValues("2 * alpha + eps", {}, {4.25});
  expectValues("1e-3 + .5 + 2.", {}, {2.501});
  expectValues("-2 ** 2 + 2 ** 3 ** 2 + 2 ** -1", {}, {508.5});
  expectValues("a ** 2", {2, 3}, {1, 4, 9, 16, 25, 36});
  expectValues("a * 2 + 1 > 6", {2, 3}, {0, 0, 1, 1, 1, 1});
  expectValues("a == 3", {2, 3}, {0, 0, 1, 0, 0, 0});
  expectValues("a != a", {2, 3}, {0, 0, 0, 0, 0, 0});
  expectValues("a // 2 * 10 + a % 4", {2, 3}, {1, 12, 13, 20, 21, 32});
  expectValues("-7 // 2 + -7 % 2", {}, {-3});
  expectValues("a if a > 2 and not a == 5 else 0 or -1", {2, 3}, {-1, -1, 3, 4, -1, 6});
}

TEST_F(TensorExprTest, broadcasting) {
  expectValues("a + v", {2, 3}, {11, 22, 33, 14, 25, 36});
  expectValues("col + v", {2, 3}, {110, 120, 130, 210, 220, 230});
  expectValues("v - 1", {3}, {9, 19, 29});
  expectValues("empty + col", {2, 0}, {});
}

TEST_F(TensorExprTest, matmuls) {
  expectValues("a @ b", {2, 2}, {0.5, 7, 2, 16});
  expectValues("transpose(a) @ transpose(b)", {3, 3}, {1, 7, 4.5, 2, 8, 6, 3, 9, 7.5});
  expectValues("alpha * (a @ b) + eps", {2, 2}, {1.25, 14.25, 4.25, 32.25});
  expectValues("transpose(empty) @ a", {0, 3}, {});
  expectValues("empty @ transpose(empty)", {2, 2}, {0, 0, 0, 0});
}

TEST_F(TensorExprTest, functions) {
  const double e = std::exp(1.0);
  expectValues("exp(1)", {}, {e});
  expectValues("log(exp(2))", {}, {2});
  expectValues("sqrt(16) + rsqrt(16)", {}, {4.25});
  expectValues("abs(-3) + erf(0) + tanh(0)", {}, {3});
  expectValues("sigmoid(0) + silu(1)", {}, {0.5 + 1 / (1 + 1 / e)});
  expectValues("maximum(a, 3)", {2, 3}, {3, 3, 3, 4, 5, 6});
  expectValues("minimum(a, v / 10)", {2, 3}, {1, 2, 3, 1, 2, 3});
  expectValues("where(a > 2, a, 0 - col)", {2, 3}, {-100, -100, 3, 4, 5, 6});
}

TEST_F(TensorExprTest, placesAndNeighbours) {
  expectValues("exp2(3) + floor(-1.5)", {}, {6});
  expectValues("index(a, 0)", {2, 3}, {0, 0, 0, 1, 1, 1});
  expectValues("index(a, -1) + col", {2, 3}, {100, 101, 102, 200, 201, 202});
  expectValues("take(a, 1, 1)", {2, 1}, {2, 5});
  expectValues("take(a, alpha - 1, 0)", {1, 3}, {4, 5, 6});
  expectValues("repeat(v, 2, 0)", {6}, {10, 10, 20, 20, 30, 30});
  expectValues("repeat(a, 2, 0)", {4, 3}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  expectValues("e2m1(a + 240)", {2, 6}, {0.5, -6, 1, -6, 1.5, -6, 2, -6, 3, -6, 4, -6});
  expectValues("take(e2m1(a + 240), 4, 1)", {2, 1}, {1.5, 4});
  expectValues("part(e2m1(a + 144), 1, 1, 3)", {1, 3}, {-0.5, 1, -0.5});
  expectValues("max_pool2d(a, 2, 1)", {1, 2}, {5, 6});
  expectValues("max_pool2d(a, 1, 2)", {1, 2}, {1, 3});
  // The first uniform values of tl.rand(42, ...), computed from the words of the generator's published vectors.
  expectValues("rand(0, 0)", {}, {static_cast<double>(static_cast<float>(0x6627E8D5) * 4.6566127342e-10f)});
}

TEST(TensorFunctions, allThatDirectivesMayCallExist) {
  for (std::string_view name : tile::directives::namesOf(tile::directives::tensorFunctions)) {
    Result<TensorExpression> call = TensorExpression::parse(std::string(name) + "(a)");
    if (!call)
      EXPECT_EQ(call.error().message.find("unknown function"), std::string::npos) << call.error().message;
  }
}

TEST(TensorFunctions, buffersOfAllRanksHaveAName) {
  Result<TensorExpression> sum = TensorExpression::parse("sum(peers(x), 0) + y");
  ASSERT_TRUE(bool(sum)) << sum.error().message;
  EXPECT_EQ(sum->names(), (std::vector<std::string>{"peers(x)", "y"}));
  EXPECT_EQ(bufferOfPeers("peers(x)"), "x");
  EXPECT_EQ(bufferOfPeers("x"), std::nullopt);
  Result<TensorExpression> wrong = TensorExpression::parse("peers(x + 1)");
  ASSERT_FALSE(bool(wrong));
  EXPECT_NE(wrong.error().message.find("peers takes the name of a buffer"), std::string::npos) << wrong.error().message;
}

TEST(TensorConvolution, windowsOverPaddedImages) {
  // One image of 2 x 3 pixels in one channel, and two filters of 2 x 2, which compute the sum of a window and its upper
  // left pixel.
  const HostBuffer x = makeBuffer({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}, DataType::F64);
  const HostBuffer w = makeBuffer({2, 1, 2, 2}, {1, 1, 1, 1, 1, 0, 0, 0}, DataType::F64);
  TensorNames names;
  names.buffers = {{"x", &x}, {"w", &w}};
  const auto evaluate = [&](const char *text) {
    Result<TensorExpression> expression = TensorExpression::parse(text);
    return BoundTensorExpression::bind(*expression, names)->evaluate({});
  };
  EXPECT_EQ(evaluate("conv2d(x, w, 1, 0)").shape, (std::vector<int64_t>{1, 2, 1, 2}));
  EXPECT_EQ(evaluate("conv2d(x, w, 1, 0)").values, (std::vector<double>{12, 16, 1, 2}));
  EXPECT_EQ(evaluate("conv2d(x, w, 2, 1)").values, (std::vector<double>{1, 5, 4, 11, 0, 0, 0, 5}));
  // Selects rows and columns of values that are computed as a whole.
  Result<TensorExpression> expression = TensorExpression::parse("conv2d(x, w, 2, 1)");
  const std::vector<int64_t> second = {1};
  EXPECT_EQ(BoundTensorExpression::bind(*expression, names)->evaluate({&second, nullptr}).values,
            (std::vector<double>{4, 11, 0, 5}));
}

TEST_F(TensorExprTest, reductions) {
  expectValues("sum(a, 1)", {2, 1}, {6, 15});
  expectValues("sum(a, 0)", {1, 3}, {5, 7, 9});
  expectValues("max(a, -1)", {2, 1}, {3, 6});
  expectValues("mean(a * a, 1)", {2, 1}, {14.0 / 3, 77.0 / 3});
  expectValues("a * rsqrt(mean(a * a, -1) + eps) * v", {2, 3}, [] {
    std::vector<double> values;
    for (int i = 0; i < 6; ++i)
      values.push_back((i + 1) / std::sqrt((i < 3 ? 14.0 : 77.0) / 3 + 0.25) * 10 * (i % 3 + 1));
    return values;
  }());
  const double s = 1 + std::exp(1.0) + std::exp(2.0);
  expectValues("softmax(a)", {2, 3},
               {1 / s, std::exp(1.0) / s, std::exp(2.0) / s, 1 / s, std::exp(1.0) / s, std::exp(2.0) / s});
  expectValues("softmax(1000 * a)", {2, 3}, {0, 0, 1, 0, 0, 1}); // does not overflow
  expectValues("sum(empty, 1)", {2, 1}, {0, 0});
}

TEST_F(TensorExprTest, stridedBuffersReadTheirLogicalElements) {
  const HostBuffer strided = makeBuffer({2, 3}, {1, 2, 3, 4, 5, 6}, tile::runtime::DataType::F16, {1, 7});
  names.buffers["s"] = &strided;
  expectValues("s - a", {2, 3}, {0, 0, 0, 0, 0, 0});
}

TEST_F(TensorExprTest, selectionsAgreeWithTheWhole) {
  std::vector<double> left(20 * 12), right(12 * 18), bias(18);
  for (size_t i = 0; i < left.size(); ++i)
    left[i] = randomNormal(1, i);
  for (size_t i = 0; i < right.size(); ++i)
    right[i] = randomNormal(2, i);
  for (size_t i = 0; i < bias.size(); ++i)
    bias[i] = randomNormal(3, i);
  std::vector<double> matrices(right);
  matrices.insert(matrices.end(), right.rbegin(), right.rend());
  std::vector<double> numbers;
  for (int i = 0; i < 20; ++i)
    numbers.push_back(i * 7 % 12);
  const HostBuffer x = makeBuffer({20, 12}, left), y = makeBuffer({12, 18}, right), z = makeBuffer({18}, bias);
  const HostBuffer w = makeBuffer({2, 12, 18}, matrices), ids = makeBuffer({20}, numbers);
  const HostBuffer offsets = makeBuffer({3}, {0, 7, 17}), starts = makeBuffer({2}, {1, 9});
  const HostBuffer ends = makeBuffer({2}, {5, 19});
  names.buffers = {{"x", &x},           {"y", &y},      {"z", &z}, {"w", &w}, {"ids", &ids}, {"offsets", &offsets},
                   {"starts", &starts}, {"ends", &ends}};
  const std::vector<int64_t> rows = {0, 7, 19}, columns = {0, 3, 4, 17};
  for (const char *text :
       {"x @ y + z", "silu(x @ y) * mean(x, 1)", "transpose(transpose(y) @ transpose(x))", "softmax(x @ y)",
        "x @ y - max(x @ y, 0) - max(x @ y, 1)", "sum(x, 1) + z", "x @ transpose(transpose(y)) > 0",
        "100 * index(x @ y, 0) + index(x @ y, 1)", "repeat(part(x, 24, 10, 12), 2, 0) @ y",
        "repeat(part(y, 5, 1, 1), 20, 0) + z", "repeat(part(x, 1, 20, 6), 3, 1)", "take(x, 2, 1) + take(y, 3, 0)",
        "gather(y, ids)", "20 * segment(x @ y, offsets, 0) + segment(x @ y, offsets, 1)", "group_matmul(x, w, offsets)",
        "ragged_matmul(x, w, starts, ends)", "sum(group_outer(transpose(x), y, offsets), 0)"}) {
    // The sum over groups keeps a dimension of size 1 in front.
    const auto lastTwo = [](const Tensor &tensor) {
      return std::vector<int64_t>(tensor.shape.end() - 2, tensor.shape.end());
    };
    const Tensor whole = evaluate(text);
    ASSERT_EQ(lastTwo(whole), (std::vector<int64_t>{20, 18})) << text;
    const Tensor some = evaluate(text, {&rows, nullptr});
    ASSERT_EQ(lastTwo(some), (std::vector<int64_t>{3, 18})) << text;
    for (size_t i = 0; i < rows.size(); ++i)
      for (size_t j = 0; j < 18; ++j)
        EXPECT_DOUBLE_EQ(some.values[i * 18 + j], whole.values[static_cast<size_t>(rows[i]) * 18 + j]) << text;
    const Tensor others = evaluate(text, {nullptr, &columns});
    ASSERT_EQ(lastTwo(others), (std::vector<int64_t>{20, 4})) << text;
    for (size_t i = 0; i < 20; ++i)
      for (size_t j = 0; j < columns.size(); ++j)
        EXPECT_DOUBLE_EQ(others.values[i * 4 + j], whole.values[i * 18 + static_cast<size_t>(columns[j])]) << text;
  }
}

TEST_F(TensorExprTest, negative_errorsSayWhere) {
  const std::pair<const char *, const char *> cases[] = {
      {"", "expected a value before the end"},
      {"a +", "expected a value before the end"},
      {"(a", "expected ')' before the end"},
      {"a b", "column 3: unexpected 'b'"},
      {"foo(a)", "column 1: unknown function 'foo'"},
      {"exp(a, a)", "exp takes 1 argument, found 2"},
      {"where(a, a)", "where takes 3 arguments, found 2"},
      {"sum(a, alpha)", "the axis of sum must be a small integer"},
      {"1.2.3", "'1.2.3' is not a number"},
      {"a ? b", "unexpected '?'"},
      {"[a, b]", "column 1: expectations have no lists and no elements"},
      {"sum(a, dim=1)", "column 12: sum has no parameter 'dim'"},
      {"q + 1", "column 1: q: neither a buffer nor a number"},
      {"a + b", "column 3: +: shapes [2, 3] and [3, 2] do not broadcast"},
      {"a @ a", "column 3: @: shapes [2, 3] and [2, 3] cannot be multiplied"},
      {"a @ v", "cannot be multiplied"},
      {"sum(a, 2)", "axis 2 does not exist in shape [2, 3]"},
      {"transpose(v)", "expected at least 2 dimensions"},
      {"softmax(1)", "the operand is a scalar"},
      {"index(a, 2)", "axis 2 does not exist in shape [2, 3]"},
      {"take(a, 3, 1)", "element 3 does not exist along axis 1 of shape [2, 3]"},
      {"take(a, v, 1)", "argument 2 is not an integer"},
      {"repeat(a, 0, 1)", "0 repetitions; expected 1 to 65536"},
      {"e2m1(2)", "a scalar; expected bytes along an axis"},
      {"conv2d(a, b, 1, 0)", "shapes [2, 3] and [3, 2] are not [N, C, H, W] and [K, C, R, S]"},
      {"max_pool2d(a, 0, 1)", "shape [2, 3], size 0 and stride 1; expected two dimensions and positive numbers"},
      {"index(a)", "index takes 2 arguments, found 1"},
  };
  for (const auto &[text, expected] : cases)
    EXPECT_NE(errorOf(text).find(expected), std::string::npos) << text << "\n  got: " << errorOf(text);
  EXPECT_NE(errorOf(std::string(100000, '(')).find("nested deeper"), std::string::npos);
  std::string chain = "1";
  for (int i = 0; i < 2000; ++i)
    chain += "+1";
  EXPECT_NE(errorOf(chain).find("more than 1000 operations"), std::string::npos);
}

TEST_F(TensorExprTest, workIsCountedOnce) {
  std::set<std::string> counted;
  const auto count = [&](const char *text) {
    Result<TensorExpression> expression = TensorExpression::parse(text);
    return BoundTensorExpression::bind(*expression, names)->countWork(counted);
  };
  // alpha is 2. A GEMM of 2 x 3 x 2; another output adds no work.
  const TensorWork work = count(
      "(a @ b) * where(alpha == 1, exp(a @ b), silu(a @ b)) + where(alpha == 2, a @ b, transpose(b) @ transpose(a))");
  EXPECT_EQ(work.flops, 24);
  EXPECT_EQ(work.special, 4);
  EXPECT_EQ(count("2 * (a @ b)").flops, 0);
  EXPECT_EQ(count("exp(a @ b)").special, 4);
  EXPECT_EQ(count("where(v > 15, b @ a, 0)").flops, 36);
  // Two of the three rows belong to groups.
  const HostBuffer offsets = makeBuffer({2}, {1, 3}), w = makeBuffer({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  names.buffers["offsets"] = &offsets;
  names.buffers["w"] = &w;
  EXPECT_EQ(count("group_matmul(b, w, offsets)").flops, 24);
  EXPECT_EQ(count("group_outer(b, b, offsets)").flops, 16);
}

TEST_F(TensorExprTest, onlyWhatIsNeededIsEvaluated) {
  const auto costOf = [&](const char *text) {
    Result<TensorExpression> expression = TensorExpression::parse(text);
    return BoundTensorExpression::bind(*expression, names)->costOf({}).flops;
  };
  EXPECT_EQ(costOf("(a @ b) * (a @ b) + transpose(b) @ transpose(a)"), 48);
  EXPECT_EQ(costOf("where(alpha == 2, a @ b, (a @ b) @ (a @ b))"), 24);
  EXPECT_EQ(costOf("where(alpha == 1, a @ b, 1)"), 0);
  // A selected value has the shape of both.
  expectValues("sum(where(alpha == 2, col, a), 1)", {2, 1}, {300, 600});
  expectValues("(a @ b) * where(alpha == 1, exp(a @ b), a @ b)", {2, 2}, {0.25, 49, 4, 256});
}

TEST_F(TensorExprTest, randomTextIsSurvived) {
  const char *words[] = {"a",  "b", "v",   "(",   ")",   ",",     "+",       "-",         "*",     "/",    "@", "<",
                         "==", "1", "2.5", "exp", "sum", "where", "softmax", "transpose", "alpha", "\x80", ".", "1e"};
  for (uint64_t round = 0; round < 20000; ++round) {
    std::string text;
    for (uint64_t i = 0; i < 12; ++i)
      text += words[randomBits(round, i) % std::size(words)];
    Result<TensorExpression> expression = TensorExpression::parse(text);
    if (!expression)
      continue;
    Result<BoundTensorExpression> bound = BoundTensorExpression::bind(*expression, names);
    if (bound)
      (void)bound->evaluate({});
  }
}

TEST(Matmul, oddSizesAgreeWithThreeLoops) {
  for (int64_t m : {1, 3, 5, 130})
    for (int64_t n : {1, 16, 17, 33})
      for (int64_t k : {0, 1, 7, 64}) {
        std::vector<double> a(m * k), b(k * n), c(m * n, -1);
        for (size_t i = 0; i < a.size(); ++i)
          a[i] = randomElement(tile::runtime::DataType::I32, 1, i);
        for (size_t i = 0; i < b.size(); ++i)
          b[i] = randomElement(tile::runtime::DataType::I32, 2, i);
        multiplyMatrices(a.data(), b.data(), c.data(), m, n, k);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = 0;
            for (int64_t p = 0; p < k; ++p)
              sum += a[i * k + p] * b[p * n + j];
            ASSERT_EQ(c[i * n + j], sum) << m << " " << n << " " << k; // small integers: exact
          }
      }
}

} // namespace
