// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests which kernels an artifact gets. test/unit/Target tests the results of the cost model.
#include "Driver/VariantPlan.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace tile;
using namespace tile::driver;

namespace {

const target::GpuTarget &hopper() {
  return *target::findTarget("sm_90a");
}

CompilerOptions optionsFor(std::string text) {
  CompilerOptions options;
  options.input = "-";
  options.inputText = std::move(text);
  return options;
}

CompilerOptions example(const std::string &name) {
  auto buffer = llvm::MemoryBuffer::getFile(std::string(TILE_EXAMPLES) + "/" + name + ".tile");
  EXPECT_TRUE(bool(buffer)) << name;
  return optionsFor(buffer ? (*buffer)->getBuffer().str() : "");
}

CompilerOptions matmul(bool transposesB) {
  CompilerOptions options = example("matmul");
  options.signature = "a: *bf16, b: *bf16, c: *bf16";
  options.definitions["TRANS_B"] = transposesB ? "1" : "0";
  return options;
}

std::vector<std::string> namesOf(const VariantPlans &plans) {
  std::vector<std::string> names;
  for (const VariantPlan &plan : plans.plans)
    names.push_back(plan.name);
  return names;
}

const VariantPlan *find(const VariantPlans &plans, llvm::StringRef prefix) {
  for (const VariantPlan &plan : plans.plans)
    if (llvm::StringRef(plan.name).starts_with(prefix))
      return &plan;
  return nullptr;
}

using Promises = std::map<std::string, int>;

/// A kernel as in Triton's tutorial.
constexpr const char *strided = R"(
@triton.jit
def strided(a, b, c, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
            BM: tl.constexpr = 64, BN: tl.constexpr = 64, BK: tl.constexpr = 32):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(a + m[:, None] * stride_am + (k * BK + ks)[None, :] * stride_ak,
                    mask=(m[:, None] < M) & (ks[None, :] < left), other=0.0)
        y = tl.load(b + (k * BK + ks)[:, None] * stride_bk + n[None, :] * stride_bn,
                    mask=(ks[:, None] < left) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * stride_cm + n[None, :] * stride_cn, acc.to(tl.float16),
             mask=(m[:, None] < M) & (n[None, :] < N))
)";
constexpr const char *stridedSignature = "*fp16, *fp16, *fp16, i32, i32, i32, i32, i32, i32, i32, i32, i32";

} // namespace

TEST(PlanVariants, matmul) {
  for (bool transposesB : {false, true}) {
    VariantPlans plans = planVariants(matmul(transposesB), hopper(), VariantMode::Auto);
    ASSERT_GE(plans.plans.size(), 12u);
    EXPECT_LE(plans.plans.size(), 24u);
    EXPECT_EQ(plans.plans[0].name, "general");
    EXPECT_TRUE(plans.plans[0].assumptions.empty());
    const VariantPlan *aligned = find(plans, "aligned"), *loads = find(plans, "loads"),
                      *pieces = find(plans, "pieces4");
    ASSERT_TRUE(aligned && loads && pieces);
    EXPECT_EQ(aligned->assumptions, (Promises{{"lda", 8}, {"ldb", 8}, {"ldc", 8}, {"N", 8}}));
    EXPECT_EQ(loads->assumptions, (Promises{{"lda", 8}, {"ldb", 8}}));
    EXPECT_EQ(pieces->assumptions, transposesB ? (Promises{{"lda", 2}, {"ldb", 2}, {"K", 2}})
                                               : (Promises{{"lda", 2}, {"ldb", 2}, {"K", 2}, {"N", 2}}));
    for (const VariantPlan &plan : plans.plans) {
      ASSERT_TRUE(plan.tiles && plan.cost) << plan.name;
      EXPECT_EQ(plan.cost->m + plan.cost->n + plan.cost->k, "MNK");
      EXPECT_EQ(plan.cost->config.blockM, *plan.tiles->blockM);
    }
    EXPECT_TRUE(aligned->cost->config.wgmma && loads->cost->config.wgmma);
    EXPECT_FALSE(plans.plans[0].cost->config.wgmma || pieces->cost->config.wgmma);
    EXPECT_TRUE(loads->cost->problem.plainStores);
    std::vector<std::string> names = namesOf(plans);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  }
}

TEST(PlanVariants, isTheSameAgain) {
  VariantPlans first = planVariants(matmul(true), hopper(), VariantMode::Auto);
  VariantPlans second = planVariants(matmul(true), hopper(), VariantMode::Auto);
  EXPECT_EQ(namesOf(first), namesOf(second));
  EXPECT_EQ(first.explanation, second.explanation);
}

TEST(PlanVariants, optionsWithPlans) {
  CompilerOptions options = matmul(true);
  VariantPlans plans = planVariants(options, hopper(), VariantMode::Auto);
  const VariantPlan *aligned = find(plans, "aligned");
  CompilerOptions changed = withPlan(options, *aligned);
  EXPECT_EQ(changed.assumptions, aligned->assumptions);
  EXPECT_EQ(changed.definitions, options.definitions);
  EXPECT_EQ(changed.tiles->blockM, aligned->tiles->blockM);
}

TEST(PlanVariants, modes) {
  CompilerOptions options = matmul(true);
  EXPECT_EQ(planVariants(options, hopper(), VariantMode::None).plans.size(), 1u);
  VariantPlans alignment = planVariants(options, hopper(), VariantMode::Alignment);
  EXPECT_EQ(namesOf(alignment).size(), 5u);
  VariantPlans all = planVariants(options, hopper(), VariantMode::All);
  EXPECT_GT(all.plans.size(), 24u);
  for (const VariantPlan &plan : planVariants(options, hopper(), VariantMode::Invariant).plans) {
    EXPECT_FALSE(plan.tiles->cluster);
    EXPECT_FALSE(plan.cost->problem.splitTail);
    EXPECT_FALSE(isSwapped(plan.cost->config)) << plan.name;
  }
}

TEST(PlanVariants, givenSizesAndBlocks) {
  CompilerOptions options = matmul(true);
  options.sizes = {{"M", 4096}, {"N", 4096}, {"K", 4096}};
  EXPECT_EQ(namesOf(planVariants(options, hopper(), VariantMode::Auto)).size(), 5u);
  options.sizes.clear();
  options.definitions["BLOCK_M"] = "64";
  for (const VariantPlan &plan : planVariants(options, hopper(), VariantMode::Auto).plans)
    EXPECT_EQ(plan.cost->config.blockM, 64u) << plan.name;
}

// A call whose tensor maps cannot be encoded is served by the general variant, even if aligned rows are assumed.
TEST(PlanVariants, promisedRows) {
  CompilerOptions options = matmul(true);
  options.assumptions = {{"lda", 8}, {"ldb", 8}, {"ldc", 8}, {"N", 8}};
  VariantPlans plans = planVariants(options, hopper(), VariantMode::Auto);
  EXPECT_FALSE(plans.plans[0].limits.mapsOfPointers);
  EXPECT_FALSE(plans.plans[0].cost->config.wgmma);
  const VariantPlan *aligned = find(plans, "aligned");
  ASSERT_TRUE(aligned);
  EXPECT_TRUE(aligned->assumptions.empty());
  EXPECT_TRUE(aligned->cost->config.wgmma);
}

// A vector that is added to columns adds no class of assumptions.
TEST(PlanVariants, biasDoesNotMatter) {
  CompilerOptions options = example("gemm/matmul_bias_relu");
  options.definitions["TRANS_B"] = "1";
  const VariantPlans plans = planVariants(options, hopper(), VariantMode::Alignment);
  const VariantPlan *loads = find(plans, "loads");
  ASSERT_TRUE(loads);
  EXPECT_EQ(loads->assumptions, (Promises{{"lda", 8}, {"ldb", 8}}));
}

// Descriptors written by the user stay, so only the sizes matter.
TEST(PlanVariants, descriptors) {
  VariantPlans plans = planVariants(example("gemm/matmul_descriptors"), hopper(), VariantMode::Auto);
  EXPECT_GT(plans.plans.size(), 8u);
  EXPECT_TRUE(plans.plans[0].cost->config.wgmma);
  for (const VariantPlan &plan : plans.plans)
    EXPECT_TRUE(plan.assumptions.empty());
}

// Blocks that require tensor maps keep them: otherwise the general variant would not compile.
TEST(PlanVariants, oddBlocks) {
  CompilerOptions options = matmul(true);
  options.assumptions = {{"lda", 8}, {"ldb", 8}, {"ldc", 8}, {"N", 8}};
  options.definitions["BLOCK_M"] = "144";
  VariantPlans plans = planVariants(options, hopper(), VariantMode::Auto);
  EXPECT_TRUE(plans.plans[0].cost->config.wgmma);
}

TEST(PlanVariants, elementwise) {
  VariantPlans plans = planVariants(example("softmax"), hopper(), VariantMode::Auto);
  ASSERT_EQ(plans.plans.size(), 2u);
  EXPECT_EQ(plans.plans[1].name, "aligned");
  EXPECT_FALSE(plans.plans[1].tiles || plans.plans[1].cost);
}

TEST(PlanVariants, strides) {
  CompilerOptions options = optionsFor(strided);
  options.signature = stridedSignature;
  VariantPlans plans = planVariants(options, hopper(), VariantMode::Auto);
  const VariantPlan *rows = find(plans, "aligned"), *columns = find(plans, "aligned-2");
  ASSERT_TRUE(rows && columns);
  EXPECT_EQ(rows->definitions,
            (std::map<std::string, std::string>{{"stride_ak", "1"}, {"stride_bn", "1"}, {"stride_cn", "1"}}));
  EXPECT_EQ(rows->assumptions, (Promises{{"stride_am", 8}, {"stride_bk", 8}, {"stride_cm", 8}, {"N", 8}}));
  EXPECT_NE(columns->definitions, rows->definitions);
  EXPECT_TRUE(plans.plans[0].definitions.empty());
}

// Even if positions wrap around, as in Triton's tutorial, contiguous rows of b are the first guess.
TEST(PlanVariants, stridesOfWrappedPositions) {
  std::string wrapped = strided;
  for (auto [position, size] : {std::pair("m[:, None] * stride_am", 'M'), std::pair("n[None, :] * stride_bn", 'N')}) {
    size_t place = wrapped.find(position);
    std::string index = wrapped.substr(place, wrapped.find(" *", place) - place);
    wrapped.replace(place, index.size(), "(" + index + " % " + size + ")");
  }
  CompilerOptions options = optionsFor(wrapped.c_str());
  options.signature = stridedSignature;
  VariantPlans plans = planVariants(options, hopper(), VariantMode::Auto);
  const VariantPlan *rows = find(plans, "aligned");
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->definitions,
            (std::map<std::string, std::string>{{"stride_ak", "1"}, {"stride_bn", "1"}, {"stride_cn", "1"}}));
}

TEST(PlanVariants, alternatives) {
  CompilerOptions options = example("softmax");
  options.inputText = R"(
@tile.kernel
def scale(x: ptr[f32], n: i32, BLOCK: constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)
)";
  options.definitions = {{"BLOCK", "256"}};
  options.alternatives = {{"BLOCK", {"512"}}};
  VariantPlans plans = planVariants(options, hopper(), VariantMode::Auto);
  EXPECT_EQ(namesOf(plans),
            (std::vector<std::string>{"general", "aligned-BLOCK.256", "aligned-BLOCK.512", "general-BLOCK.512"}));
  EXPECT_EQ(plans.plans[2].definitions.at("BLOCK"), "512");
  EXPECT_FALSE(plans.plans[3].isNeeded);
}

// If the first configuration does not serve all calls, the others are needed without assumptions, however many there
// are.
TEST(PlanVariants, alternativesForOtherCalls) {
  constexpr const char *text = R"(
{0}
@tile.kernel
def scale(x: ptr[f32], n: i32, BLOCK: constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)
)";
  for (const char *condition : {"#: require n <= BLOCK", "#: config BLOCK=256 when n <= 256"}) {
    CompilerOptions options = optionsFor(llvm::formatv(text, condition));
    options.definitions = {{"BLOCK", "256"}};
    options.alternatives = {{"BLOCK", {"512"}}};
    VariantPlans plans = planVariants(options, hopper(), VariantMode::Auto);
    ASSERT_EQ(plans.plans.size(), 4u) << condition;
    EXPECT_EQ(plans.plans[0].name, "general");
    bool hasGeneral = plans.plans[0].requirements.empty() && llvm::StringRef(condition).contains("config");
    EXPECT_EQ(plans.plans[1].isNeeded, !hasGeneral) << condition;
    EXPECT_FALSE(plans.plans[0].isFallback);
  }
  std::vector<std::string> values;
  std::string conditions;
  for (int block = 64; block <= 1 << 20; block *= 2) {
    values.push_back(std::to_string(block));
    conditions += llvm::formatv("#: config BLOCK={0} when n == {0}\n", block);
  }
  CompilerOptions options = optionsFor(llvm::formatv(text, conditions));
  options.definitions = {{"BLOCK", "64"}};
  options.alternatives = {{"BLOCK", {values.begin() + 1, values.end()}}};
  VariantPlans plans = planVariants(options, hopper(), VariantMode::Auto);
  EXPECT_EQ(plans.plans.size(), 24u);
  EXPECT_TRUE(plans.plans[0].isFallback);
  EXPECT_EQ(llvm::count_if(plans.plans, [](const VariantPlan &plan) { return plan.isNeeded; }),
            int64_t(values.size() + 1));
}

// The plans contain neither kernels that split the last tiles, nor another configuration.
TEST(PlanVariants, invariantWithGivenBlocks) {
  CompilerOptions options = optionsFor(strided);
  options.signature = stridedSignature;
  options.definitions = {{"BK", "32"}};
  options.alternatives = {{"BK", {"64"}}};
  VariantPlans plans = planVariants(options, hopper(), VariantMode::Invariant);
  EXPECT_GT(plans.plans.size(), 2u);
  for (const VariantPlan &plan : plans.plans) {
    EXPECT_EQ(plan.definitions.at("BK"), "32");
    EXPECT_FALSE(plan.limits.sharedTail);
  }
}

TEST(PlanVariants, negative_nothingToPromise) {
  VariantPlans plans = planVariants(optionsFor(R"(
@tile.kernel
def fill(x: ptr[f32]):
    tl.store(x + tl.arange(0, 256), tl.zeros((256,), tl.float32))
)"),
                                    hopper(), VariantMode::Auto);
  EXPECT_EQ(namesOf(plans), std::vector<std::string>{"general"});
}

TEST(PlanVariants, negative_brokenKernel) {
  VariantPlans plans = planVariants(optionsFor("def"), hopper(), VariantMode::Auto);
  EXPECT_EQ(namesOf(plans), std::vector<std::string>{"general"});
}
