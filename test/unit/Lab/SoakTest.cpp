// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the sizes that a soak draws: in range, divisible, the same for the same seed, with strides that are large
// enough for rows.
#include "Lab/Soak/Soak.h"
#include "Lab/Soak/SuiteSoak.h"
#include "Runner/Inputs/Arguments.h"

#include "TestBuffers.h"

#include <set>

using namespace tile::runner;
using tile::test::matmulManifest;

namespace {

/// Returns the values of the integer parameters in launch number `launch`.
std::map<std::string, int64_t> valuesOf(const SoakPlan &plan, const Manifest &manifest, uint64_t launch) {
  Result<std::vector<std::string>> arguments = drawArguments(plan, manifest, 7, launch, 132);
  EXPECT_TRUE(bool(arguments)) << (arguments ? "" : arguments.error().message);
  Result<Bindings> bindings = Bindings::bind(manifest, *arguments, 132);
  EXPECT_TRUE(bool(bindings)) << (bindings ? "" : bindings.error().message);
  std::map<std::string, int64_t> values;
  for (size_t i = 0; i < manifest.parameters.size(); ++i)
    if (manifest.parameters[i].isInteger())
      values[manifest.parameters[i].name] = bindings->scalar(i).integer;
  return values;
}

std::string errorOf(const std::vector<std::string> &arguments) {
  Result<SoakPlan> plan = planSoak(arguments, matmulManifest());
  return plan ? "no error" : plan.error().message;
}

TEST(Soak, sizesAreInRangeAndDivisible) {
  const Manifest manifest = matmulManifest();
  Result<SoakPlan> plan = planSoak({"M=0..100", "K=6..70"}, manifest);
  ASSERT_TRUE(bool(plan)) << plan.error().message;
  std::set<int64_t> rows, depths;
  for (uint64_t launch = 0; launch < 2000; ++launch) {
    std::map<std::string, int64_t> values = valuesOf(*plan, manifest, launch);
    EXPECT_EQ(values["N"], values["M"]); // the default of N is M
    rows.insert(values["M"]);
    depths.insert(values["K"]);
    EXPECT_EQ(values["K"] % 4, 0);
    EXPECT_GE(values["stride_am"], values["K"]);
    EXPECT_GE(values["stride_bk"], values["N"]);
    EXPECT_EQ(values["stride_ak"], 1);
  }
  EXPECT_EQ(*rows.begin(), 0);
  EXPECT_EQ(*rows.rbegin(), 100);
  EXPECT_GT(rows.size(), 80u);
  EXPECT_EQ(*depths.begin(), 8);
  EXPECT_EQ(*depths.rbegin(), 68);
}

TEST(Soak, sizesSatisfyTheRequirements) {
  Manifest manifest = matmulManifest();
  manifest.requirements = {"M % 48 == 0 and (K % 16 == 0)", "K <= 64", "stride_am > 20"};
  Result<SoakPlan> plan = planSoak({"M=1..2000", "K=1..300"}, manifest);
  ASSERT_TRUE(bool(plan)) << plan.error().message;
  std::set<int64_t> depths;
  for (uint64_t launch = 0; launch < 500; ++launch) {
    std::map<std::string, int64_t> values = valuesOf(*plan, manifest, launch);
    EXPECT_EQ(values["M"] % 48, 0);
    EXPECT_GT(values["stride_am"], 20);
    depths.insert(values["K"]);
  }
  EXPECT_EQ(depths, (std::set<int64_t>{16, 32, 48, 64}));
  // A disjunction implies no divisor.
  manifest.requirements = {"M % 64 == 0 or M < 8"};
  plan = planSoak({"M=1..7"}, manifest);
  ASSERT_TRUE(bool(plan)) << plan.error().message;
  EXPECT_TRUE(bool(drawArguments(*plan, manifest, 7, 0, 132)));
  plan = planSoak({"M=9..50"}, manifest);
  Result<std::vector<std::string>> none = drawArguments(*plan, manifest, 7, 0, 132);
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(none.error().message, "kernel 'matmul' requires M % 64 == 0 or M < 8, which holds for none of the sampled "
                                  "sizes; give narrower ranges, like NAME=LOW..HIGH, or fixed sizes");
}

TEST(Soak, stridesAreWhatTensorMapsDemand) {
  Manifest manifest = matmulManifest();
  manifest.tensorMaps.push_back(
      {"a", tile::runtime::DataType::F16, {"M", "K"}, {"stride_am"}, {16, 16}, /*swizzle=*/0});
  Result<SoakPlan> plan = planSoak({"M=5", "stride_cm=1000", "K=1..300"}, manifest);
  ASSERT_TRUE(bool(plan)) << plan.error().message;
  bool isPadded = false, isTight = false;
  for (uint64_t launch = 0; launch < 200; ++launch) {
    std::map<std::string, int64_t> values = valuesOf(*plan, manifest, launch);
    EXPECT_EQ(values["M"], 5);
    EXPECT_EQ(values["stride_cm"], 1000);
    EXPECT_EQ(values["stride_am"] % 8, 0);
    EXPECT_GE(values["stride_am"], values["K"]);
    isPadded |= values["stride_am"] >= values["K"] + 8;
    isTight |= values["stride_am"] < values["K"] + 8;
  }
  EXPECT_TRUE(isPadded);
  EXPECT_TRUE(isTight);
}

TEST(Soak, variantsGetWhatTheyPromise) {
  const Manifest general = matmulManifest();
  Manifest variant = general;
  std::erase_if(variant.parameters, [](const Parameter &parameter) { return parameter.name == "stride_ak"; });
  variant.constants.emplace_back("stride_ak", int64_t(1));
  for (Parameter &parameter : variant.parameters)
    if (parameter.name == "M")
      parameter.divisibility = 32;
  const auto valueOf = [&](const std::vector<std::string> &arguments, const char *name) {
    Result<SoakPlan> plan = planVariant(arguments, variant, general);
    EXPECT_TRUE(bool(plan)) << (plan ? "" : plan.error().message);
    return valuesOf(*plan, general, 3)[name];
  };
  EXPECT_EQ(valueOf({"M=1..500"}, "M") % 32, 0);
  EXPECT_EQ(valueOf({"M=1..500"}, "stride_ak"), 1);
  EXPECT_EQ(valueOf({"stride_ak=1..3"}, "stride_ak"), 1);
  EXPECT_EQ(valueOf({"stride_ak=2"}, "stride_ak"), 2); // calls that the variant does not serve: the caller has to check
  EXPECT_FALSE(bool(planVariant({"M=33..63"}, variant, general)));
}

TEST(Soak, theSeedDecides) {
  const Manifest manifest = matmulManifest();
  const SoakPlan plan = *planSoak({}, manifest);
  std::set<std::vector<std::string>> seen;
  for (uint64_t launch = 0; launch < 50; ++launch) {
    const std::vector<std::string> arguments = *drawArguments(plan, manifest, 3, launch, 1);
    EXPECT_EQ(arguments, *drawArguments(plan, manifest, 3, launch, 1));
    EXPECT_NE(arguments, *drawArguments(plan, manifest, 4, launch, 1));
    seen.insert(arguments);
  }
  EXPECT_GT(seen.size(), 45u);
}

TEST(SuiteSoak, eachRoundHasEachCaseOnceInAnotherOrder) {
  const auto round = [](uint64_t seed, uint64_t number) {
    std::vector<size_t> cases;
    for (uint64_t i = 0; i < 20; ++i)
      cases.push_back(drawCase(20, seed, number * 20 + i));
    return cases;
  };
  for (uint64_t number = 0; number < 3; ++number) {
    const std::vector<size_t> cases = round(1, number);
    EXPECT_EQ(std::set<size_t>(cases.begin(), cases.end()).size(), 20u);
    EXPECT_EQ(cases, round(1, number));
    EXPECT_NE(cases, round(1, number + 1));
  }
}

TEST(Soak, negative_ranges) {
  EXPECT_EQ(errorOf({"K=5..7"}), "K=5..7 has no multiple of 4, which the kernel requires");
  EXPECT_EQ(errorOf({"M=9..8"}), "M=9..8 is not a range of sizes of type i32");
  EXPECT_EQ(errorOf({"M=-1..8"}), "M=-1..8 is not a range of sizes of type i32");
  EXPECT_EQ(errorOf({"M=1..9999999999"}), "M=1..9999999999: 9999999999 does not fit i32 (-2147483648 to 2147483647)");
  EXPECT_EQ(errorOf({"M=1..99999999999999999999"}),
            "'M=1..99999999999999999999' is not a range; expected M=LOW..HIGH, integers of 64 bits");
  EXPECT_EQ(errorOf({"M"}), "argument 'M' is not of the form name=value");
}

} // namespace
