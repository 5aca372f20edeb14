// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests costs in manifests: round trip, errors, and that the runtime evaluates the same model as the compiler.
#include "SmallVariants.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace tile::runtime;
using namespace tile::test;
namespace target = tile::target;

namespace {

const target::GpuTarget &hopper() {
  return *target::findTarget("sm_90a");
}

std::string errorWith(const std::string &from, const std::string &to) {
  std::string text = toJson(alignedGemm("v", 128, 256));
  const size_t position = text.find(from);
  EXPECT_NE(position, std::string::npos) << text;
  Result<Manifest> manifest = parseManifest(text.replace(position, from.size(), to));
  return manifest ? "" : manifest.error().message;
}

TEST(Cost, everyMemberComesBack) {
  Manifest manifest = alignedGemm("v", 128, 256);
  CostSpec &cost = *manifest.cost;
  cost.m = "cdiv(M, 2)";
  cost.problem = {.element = target::MmaType::S8, .outputBytes = 4, .tensorMaps = false, .copyBytes = 8};
  cost.problem.asyncCopies = cost.problem.splitTail = false;
  cost.problem.aKMajor = cost.problem.bKMajor = true;
  cost.config = {96, 48, 32, 5, 2, 3, false};
  cost.schedule = {.persistent = false, .pingPong = true, .ctasPerTile = 4};
  Result<Manifest> read = parseManifest(toJson(manifest));
  ASSERT_TRUE(bool(read)) << read.error().message;
  ASSERT_TRUE(read->cost);
  EXPECT_EQ(read->cost->m, "cdiv(M, 2)");
  EXPECT_EQ(read->cost->problem.element, target::MmaType::S8);
  EXPECT_EQ(read->cost->config, cost.config);
  EXPECT_EQ(read->cost->schedule, cost.schedule);
  EXPECT_EQ(toJson(*read), toJson(manifest));
}

TEST(Cost, ofProgramsComesBack) {
  Manifest manifest = gemmManifest("v");
  manifest.programs = ProgramsCost{"cdiv(K, 64)", "1", "M * 2", "K", "0", "BLOCK", "3", "M * N", 8};
  Result<Manifest> read = parseManifest(toJson(manifest));
  ASSERT_TRUE(bool(read)) << read.error().message;
  EXPECT_FALSE(read->cost);
  EXPECT_EQ(read->programs, manifest.programs);
  EXPECT_EQ(toJson(*read), toJson(manifest));
  manifest.programs->special = "a";
  EXPECT_NE(validate(manifest).error().message.find("manifest: cost: special: "), std::string::npos);
  manifest.programs->special = "0";
  manifest.programs->operandBits = 128;
  EXPECT_EQ(validate(manifest).error().message, "manifest: cost: operand_bits is 128; expected 4 to 64");
}

TEST(Cost, ofProgramsWithoutAValueHasNoTime) {
  Manifest manifest = gemmManifest("v");
  manifest.programs = ProgramsCost{"1", "0", "M // N", "0", "0", "0", "0", "M"};
  Result<ProgramsExpressions> work = ProgramsExpressions::compile(*manifest.programs, expressionNames(manifest));
  ASSERT_TRUE(bool(work));
  const int64_t slots[] = {0, 0, 0, 512, 2, 64, 0, 132}, zero[] = {0, 0, 0, 512, 0, 64, 0, 132};
  ASSERT_TRUE(work->evaluate(slots, 8));
  EXPECT_EQ(work->evaluate(slots, 8)->bytes, 256);
  EXPECT_EQ(work->evaluate(slots, 8)->programs, 8);
  EXPECT_FALSE(work->evaluate(zero, 8));
}

TEST(Cost, isThatOfTheModelForTheArguments) {
  const Manifest manifest = alignedGemm("v", 128, 256);
  Result<CostSizes> sizes = CostSizes::compile(*manifest.cost, expressionNames(manifest));
  ASSERT_TRUE(bool(sizes));
  const int64_t slots[] = {0, 0, 0, 4096, 2048, 1024, 0, 132};
  const std::optional<target::GemmSize> size = sizes->evaluate(slots);
  EXPECT_EQ(size, (target::GemmSize{4096, 2048, 1024}));
  const target::GemmProblem problem{.m = 4096, .n = 2048, .k = 1024, .element = target::MmaType::BF16, .numSms = 132};
  const double expected = target::estimateSchedule(hopper(), problem, manifest.cost->config, {});
  EXPECT_EQ(formulaOf(*manifest.cost, hopper(), 132).microseconds(*size), expected);
  EXPECT_GT(formulaOf(*manifest.cost, hopper(), 66).microseconds(*size), 1.5 * expected);
}

TEST(Cost, sizesThatHaveNoValueHaveNoTime) {
  Manifest manifest = alignedGemm("v", 128, 256);
  manifest.cost->k = "K // lda";
  Result<CostSizes> sizes = CostSizes::compile(*manifest.cost, expressionNames(manifest));
  const int64_t slots[] = {0, 0, 0, 4096, 2048, 1024, 0, 132};
  EXPECT_FALSE(sizes->evaluate(slots));
}

TEST(Cost, extremeSizesAreFinite) {
  const CostSpec cost = *alignedGemm("v", 128, 256).cost;
  for (int64_t size : {INT64_MIN, int64_t(-1), int64_t(0), INT64_MAX})
    for (unsigned ctas : {1u, 4u})
      for (bool pingPong : {false, true}) {
        CostSpec changed = cost;
        changed.schedule = {.pingPong = pingPong, .ctasPerTile = ctas};
        const double time = formulaOf(changed, hopper(), 1).microseconds({size, size, size});
        EXPECT_TRUE(std::isfinite(time) && time > 0) << size << ' ' << time;
      }
}

TEST(Cost, newerModelsAreNoError) {
  std::string text = toJson(alignedGemm("v", 128, 256));
  const std::string from = R"("model":"gemm")";
  Result<Manifest> manifest = parseManifest(text.replace(text.find(from), from.size(), R"("model":"attention")"));
  ASSERT_TRUE(bool(manifest)) << manifest.error().message;
  EXPECT_FALSE(manifest->cost);
}

TEST(Cost, negative_membersThatCannotBe) {
  EXPECT_EQ(errorWith(R"("element":"bf16","output)", R"("element":"b16","output)"),
            "manifest: cost.element: unknown type 'b16'");
  EXPECT_EQ(errorWith(R"("block":[128,256,64])", R"("block":[128,256])"),
            "manifest: cost.block: expected three integers");
  EXPECT_EQ(errorWith(R"("block":[128,)", R"("block":[0,)"), "manifest: cost: block[0] is 0; expected 1 to 4096");
  EXPECT_EQ(errorWith(R"("warps":8)", R"("warps":4294967304)"), "manifest: cost: warps is 0; expected 1 to 32");
  EXPECT_EQ(errorWith(R"("ctas_per_tile":1)", R"("ctas_per_tile":-1)"),
            "manifest: cost: ctas_per_tile is 0; expected 1 to 16");
  EXPECT_EQ(errorWith(R"("wgmma":true)", R"("wgmma":1)"), "manifest: cost.wgmma: expected true or false");
  EXPECT_EQ(errorWith(R"("k":"K")", R"("k":"a")"),
            "manifest: cost: k: in expression 'a', column 1: 'a' is not an integer parameter");
  EXPECT_EQ(errorWith(R"("variant":"v")", R"("variant":"../v")"),
            "manifest: the variant's name '../v' must have 1 to 128 letters, digits and '.+_-'");
}

} // namespace
