// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests every operand order by computing the column-major GEMM with which cuBLAS would be called.
#include "Runner/Check/Gemm.h"

#include "Runner/Inputs/Random.h"
#include "TestBuffers.h"

using namespace tile::runner;
using tile::test::makeBuffer;
using tile::test::valuesOf;

namespace {

constexpr int64_t M = 3, N = 4, K = 5;

std::vector<double> randomValues(int64_t count, uint64_t seed) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(randomElement(tile::runtime::DataType::I32, seed, static_cast<uint64_t>(i)));
  return values;
}

const double *elements(const HostBuffer &buffer) {
  return reinterpret_cast<const double *>(buffer.data());
}

/// Computes what cublasGemmStridedBatchedEx computes in column-major memory.
void columnMajorGemm(const GemmPlan &plan, const TensorNames &names, HostBuffer &output) {
  const double *first = elements(*names.buffers.at(plan.first.buffer));
  const double *second = elements(*names.buffers.at(plan.second.buffer));
  double *out = reinterpret_cast<double *>(output.data());
  for (int64_t ij = 0; ij < plan.m * plan.n * plan.batch; ++ij) {
    const int64_t i = ij % plan.m, j = ij / plan.m % plan.n, z = ij / plan.m / plan.n;
    const auto at = [](const GemmOperand &operand, int64_t row, int64_t column, int64_t matrix) {
      const int64_t leading = operand.leadingDimension;
      return matrix * operand.batchStride + (operand.isTransposed ? row * leading + column : column * leading + row);
    };
    double sum = 0;
    for (int64_t p = 0; p < plan.k; ++p)
      sum += first[at(plan.first, i, p, z)] * second[at(plan.second, p, j, z)];
    out[at(plan.output, i, j, z)] = sum;
  }
}

TEST(Gemm, allOperandOrdersGiveTheSameResult) {
  const std::vector<std::vector<int64_t>> stridesA = {{K, 1}, {K + 3, 1}, {1, M}, {1, M + 2}};
  const std::vector<std::vector<int64_t>> stridesB = {{N, 1}, {N + 3, 1}, {1, K}, {1, K + 2}};
  const std::vector<std::vector<int64_t>> stridesC = {{N, 1}, {N + 3, 1}, {1, M}, {1, M + 2}};
  const auto F64 = tile::runtime::DataType::F64;
  const std::vector<double> zeros(M * N, 0.0);
  std::vector<double> expected;
  for (const auto &strideA : stridesA)
    for (const auto &strideB : stridesB)
      for (const auto &strideC : stridesC) {
        const HostBuffer a = makeBuffer({M, K}, randomValues(M * K, 1), F64, strideA);
        const HostBuffer b = makeBuffer({K, N}, randomValues(K * N, 2), F64, strideB);
        HostBuffer c = makeBuffer({M, N}, zeros, F64, strideC);
        TensorNames names;
        names.buffers = {{"a", &a}, {"b", &b}, {"c", &c}};
        const std::optional<GemmPlan> plan = planGemm({"c", "a @ b", 1e-3}, names, c);
        ASSERT_TRUE(plan);
        columnMajorGemm(*plan, names, c);
        if (expected.empty()) {
          Result<TensorExpression> expression = TensorExpression::parse("a @ b");
          expected = BoundTensorExpression::bind(*expression, names)->evaluate({}).values;
        }
        EXPECT_EQ(valuesOf(c), expected);
      }
}

TEST(Gemm, buffersOfThreeDimensionsAreBatches) {
  constexpr int64_t Z = 2;
  const auto F64 = tile::runtime::DataType::F64;
  const HostBuffer a = makeBuffer({Z, M, K}, randomValues(Z * M * K, 1), F64, {M * K + 7, K, 1});
  const HostBuffer b = makeBuffer({Z, K, N}, randomValues(Z * K * N, 2), F64, {K * N, 1, K});
  const HostBuffer shared = makeBuffer({K, N}, randomValues(K * N, 3));
  HostBuffer c = makeBuffer({Z, M, N}, std::vector<double>(Z * M * N), F64, {M * N + 5, N, 1});
  TensorNames names;
  names.buffers = {{"a", &a}, {"b", &b}, {"shared", &shared}, {"c", &c}};
  for (const char *text : {"a @ b", "a @ shared"}) {
    const std::optional<GemmPlan> plan = planGemm({"c", text, 1e-3}, names, c);
    ASSERT_TRUE(plan) << text;
    EXPECT_EQ(plan->batch, Z);
    columnMajorGemm(*plan, names, c);
    Result<TensorExpression> expression = TensorExpression::parse(text);
    EXPECT_EQ(valuesOf(c), BoundTensorExpression::bind(*expression, names)->evaluate({}).values) << text;
  }
  EXPECT_TRUE(planGemm({"c", "2 * (a @ b)", 1e-3}, names, c)->isPart);
  EXPECT_FALSE(planGemm({"c", "maximum(a @ b, 0)", 1e-3}, names, c)); // cublasLt's epilogue applies to a single GEMM
}

TEST(Gemm, transposeInTheExpressionIsTheSameAsInTheStrides) {
  const HostBuffer a = makeBuffer({K, M}, randomValues(M * K, 1)), b = makeBuffer({K, N}, randomValues(K * N, 2));
  HostBuffer c = makeBuffer({M, N}, std::vector<double>(M * N));
  TensorNames names;
  names.buffers = {{"a", &a}, {"b", &b}, {"c", &c}};
  const std::optional<GemmPlan> plan = planGemm({"c", "transpose(a) @ b", 1e-3}, names, c);
  ASSERT_TRUE(plan);
  columnMajorGemm(*plan, names, c);
  Result<TensorExpression> expression = TensorExpression::parse("transpose(a) @ b");
  EXPECT_EQ(valuesOf(c), BoundTensorExpression::bind(*expression, names)->evaluate({}).values);
}

TEST(Gemm, biasAndReluAreAnEpilogue) {
  const HostBuffer a = makeBuffer({M, K}, randomValues(M * K, 1)), b = makeBuffer({K, N}, randomValues(K * N, 2));
  const HostBuffer c = makeBuffer({M, N}, std::vector<double>(M * N)), bias = makeBuffer({N}, randomValues(N, 3));
  TensorNames names;
  names.buffers = {{"a", &a}, {"b", &b}, {"bias", &bias}, {"c", &c}};
  const auto epilogueOf = [&](const char *expression) {
    const std::optional<GemmPlan> plan = planGemm({"c", expression, 1e-3}, names, c);
    EXPECT_TRUE(plan) << expression;
    return plan ? std::pair(plan->bias, plan->hasRelu) : std::pair(std::string("no plan"), false);
  };
  EXPECT_EQ(epilogueOf("a @ b"), std::pair(std::string(), false));
  EXPECT_EQ(epilogueOf("a @ b + bias"), std::pair(std::string("bias"), false));
  EXPECT_EQ(epilogueOf("maximum(a @ b, 0)"), std::pair(std::string(), true));
  EXPECT_EQ(epilogueOf("maximum(a @ b + bias, 0)"), std::pair(std::string("bias"), true));
  EXPECT_TRUE(planGemm({"c", "a @ b + bias", 1e-3}, names, c)->hasEpilogue());
  EXPECT_FALSE(planGemm({"c", "a @ b", 1e-3}, names, c)->hasEpilogue());
}

TEST(Gemm, negative_epilogueThatCublasDoesNotHave) {
  const HostBuffer a = makeBuffer({M, K}, randomValues(M * K, 1)), b = makeBuffer({K, N}, randomValues(K * N, 2));
  const HostBuffer c = makeBuffer({M, N}, std::vector<double>(M * N)), bias = makeBuffer({N}, randomValues(N, 3));
  const HostBuffer columnMajor = makeBuffer({M, N}, std::vector<double>(M * N), tile::runtime::DataType::F64, {1, M});
  const HostBuffer column = makeBuffer({M, 1}, randomValues(M, 3));
  TensorNames names;
  names.buffers = {{"a", &a}, {"b", &b}, {"bias", &bias}, {"column", &column}, {"c", &c}};
  EXPECT_FALSE(planGemm({"c", "a @ b + column", 1e-3}, names, c));
  EXPECT_FALSE(planGemm({"c", "a @ b + bias", 1e-3}, names, columnMajor));
  EXPECT_FALSE(planGemm({"c", "a @ b + s", 1e-3}, names, c));
}

TEST(Gemm, planOfAnEpilogueIsItsGemm) {
  const HostBuffer a = makeBuffer({M, K}, randomValues(M * K, 1)), b = makeBuffer({K, N}, randomValues(K * N, 2));
  const HostBuffer c = makeBuffer({M, N}, std::vector<double>(M * N)), bias = makeBuffer({N}, randomValues(N, 3));
  TensorNames names;
  names.buffers = {{"a", &a}, {"b", &b}, {"bias", &bias}, {"c", &c}};
  for (const char *expression :
       {"maximum(a @ b, 1)", "minimum(a @ b, 0)", "a @ b - bias", "silu(a @ b)", "where(s, 2 * (a @ b), a @ b + c)"}) {
    const std::optional<GemmPlan> plan = planGemm({"c", expression, 1e-3}, names, c);
    ASSERT_TRUE(plan) << expression;
    EXPECT_TRUE(plan->isPart) << expression;
    EXPECT_FALSE(plan->hasEpilogue()) << expression;
    EXPECT_EQ(std::vector({plan->m, plan->n, plan->k}), (std::vector{N, M, K})) << expression;
  }
  EXPECT_FALSE(planGemm({"c", "a @ b", 1e-3}, names, c)->isPart);
  EXPECT_FALSE(planGemm({"bias", "sum(a @ b, 0)", 1e-3}, names, bias));
  EXPECT_FALSE(planGemm({"c", "exp(a) @ b + 1", 1e-3}, names, c));
  EXPECT_FALSE(planGemm({"c", "exp(a) @ b + a @ b", 1e-3}, names, c)); // two matrix multiplications
}

TEST(Gemm, negative_notAPlainGemm) {
  const HostBuffer a = makeBuffer({M, K}, randomValues(M * K, 1)), b = makeBuffer({K, N}, randomValues(K * N, 2));
  const HostBuffer c = makeBuffer({M, N}, std::vector<double>(M * N));
  const HostBuffer gaps = makeBuffer({M, K}, randomValues(M * K, 1), tile::runtime::DataType::F64, {2 * K, 2});
  const HostBuffer empty = makeBuffer({0, N}, {});
  TensorNames names;
  names.buffers = {{"a", &a}, {"b", &b}, {"c", &c}, {"g", &gaps}};
  EXPECT_FALSE(planGemm({"c", "a + 1", 1e-3}, names, c));
  EXPECT_FALSE(planGemm({"c", "g @ b", 1e-3}, names, c));
  EXPECT_FALSE(planGemm({"c", "a @ b", 1e-3}, names, empty));
  EXPECT_FALSE(planGemm({"c", "a @ (", 1e-3}, names, c));
}

} // namespace
