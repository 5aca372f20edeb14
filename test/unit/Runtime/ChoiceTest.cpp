// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the choice of variants: against a reference for the three variants of SmallVariants.h, and each rule
// separately.
#include "Runtime/Choice.h"
#include "SmallVariants.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace tile::runtime;
using namespace tile::test;
namespace target = tile::target;

namespace {

/// Arguments of the GEMM, in the order of its parameters.
struct Arguments {
  uint64_t a = 0x1000, b = 0x2000, c = 0x3000;
  int32_t m = 512, n = 512, k = 512, lda = 512;
  std::array<void *, 7> list() { return {&a, &b, &c, &m, &n, &k, &lda}; }
};

struct Gemm {
  std::vector<PackedVariant> variants = smallVariants();

  Chooser chooser() const {
    std::vector<const Manifest *> manifests;
    for (const PackedVariant &variant : variants)
      manifests.push_back(&variant.manifest);
    Result<Chooser> made = Chooser::make(manifests);
    EXPECT_TRUE(bool(made)) << made.error().message;
    return std::move(*made);
  }
};

constexpr DeviceFacts h200{9, 0, 132, 232448, true};

Choice chooseFor(const Chooser &chooser, Arguments arguments, const DeviceVariants &device) {
  const auto list = arguments.list();
  return chooser.choose({list.data(), nullptr}, device);
}

std::string nameOf(const Chooser &chooser, const Choice &choice) {
  return choice.index < 0 ? "none" : chooser.manifest(static_cast<size_t>(choice.index)).variant;
}

std::string chosen(const Gemm &gemm, const Arguments &arguments, const DeviceFacts &facts = h200) {
  const Chooser chooser = gemm.chooser();
  return nameOf(chooser, chooseFor(chooser, arguments, chooser.onDevice(facts)));
}

std::string whyNot(const Gemm &gemm, size_t index, Arguments arguments, const DeviceFacts &facts = h200) {
  const Chooser chooser = gemm.chooser();
  const auto list = arguments.list();
  const Status status = chooser.explain(index, {list.data(), nullptr}, chooser.onDevice(facts));
  return status ? "" : status.error().message;
}

/// Returns the expected choice, from the conditions of the three variants written by hand.
std::string reference(const Gemm &gemm, const Arguments &x) {
  const auto ceilDivide = [](int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); };
  const auto tiles = [&](int64_t m, int64_t n) { return ceilDivide(x.m, m) * ceilDivide(x.n, n); };
  const bool aligned = (x.a | x.b | x.c) % 16 == 0 && x.n % 8 == 0 && x.k % 8 == 0 && x.m >= 0 && x.k >= 0;
  const auto time = [&](size_t index) {
    const CostSpec &cost = *gemm.variants[index].manifest.cost;
    target::GemmProblem problem = cost.problem;
    problem.m = x.m, problem.n = x.n, problem.k = x.k, problem.numSms = 132;
    return target::estimateSchedule(*target::findTarget("sm_90a"), problem, cost.config, cost.schedule);
  };
  const bool first = aligned && x.lda % 8 == 0 && x.lda >= 0 && tiles(128, 256) >= 0;
  const bool second = aligned && x.lda == 4096 && tiles(64, 64) >= 0;
  if (first && second)
    return time(1) <= time(2) ? "aligned-128x256" : "rows-64x64";
  if (first || second)
    return first ? "aligned-128x256" : "rows-64x64";
  return tiles(64, 64) >= 0 ? "general" : "none";
}

// A fallback comes last, however fast it is and however specific its target.
TEST(Choice, fallbacksComeLast) {
  Gemm gemm;
  gemm.variants[1].manifest.isFallback = true;
  EXPECT_EQ(chosen(gemm, {}), "general");
  gemm.variants[0].manifest.requirements = {"M != 512"};
  EXPECT_EQ(chosen(gemm, {}), "aligned-128x256");
  EXPECT_EQ(chosen(gemm, {.lda = 4096}), "rows-64x64");
  for (PackedVariant &variant : gemm.variants)
    if (!variant.manifest.isFallback) {
      variant.manifest.target = "sm_80";
      variant.manifest.format = "ptx";
    }
  EXPECT_EQ(chosen(gemm, {.lda = 4096}), "rows-64x64");
}

TEST(Choice, agreesWithTheReference) {
  const Gemm gemm;
  const Chooser chooser = gemm.chooser();
  const DeviceVariants device = chooser.onDevice(h200);
  std::mt19937_64 random(7);
  const auto pick = [&](std::initializer_list<int64_t> values) { return values.begin()[random() % values.size()]; };
  std::map<std::string, int> seen;
  for (int i = 0; i < 20000; ++i) {
    Arguments x;
    x.a += static_cast<uint64_t>(pick({0, 0, 0, 0, 0, 16, 8, 2}));
    x.c += static_cast<uint64_t>(pick({0, 0, 0, 0, 32, 4}));
    for (int32_t *size : {&x.m, &x.n, &x.k})
      *size = static_cast<int32_t>(pick({64, 128, 512, 1024, 4096, 200, 8, 0, 7, 333}) * (random() % 64 == 0 ? -1 : 1));
    x.lda = static_cast<int32_t>(pick({4096, 4096, 512, 8, 7, -8, 0}));
    const std::string expected = reference(gemm, x);
    ASSERT_EQ(nameOf(chooser, chooseFor(chooser, x, device)), expected)
        << x.m << ' ' << x.n << ' ' << x.k << ' ' << x.lda << ' ' << x.a << ' ' << x.c;
    ++seen[expected];
  }
  EXPECT_EQ(seen.size(), 4u);
}

// Most variants are excluded by a lower bound of their time; the choice must be the same as without bounds.
TEST(Choice, isTheFirstOfTheLeastTimes) {
  Gemm gemm;
  for (unsigned i = 0; i < 24; ++i) {
    PackedVariant next = {alignedGemm("v" + std::to_string(i), 64 << i % 3, 64 + 16 * (i % 10)), "", ""};
    CostSpec &cost = *next.manifest.cost;
    cost.problem.splitTail = i % 2 == 0;
    cost.problem.plainStores = i % 5 == 0;
    cost.schedule = {.persistent = i % 4 != 0, .pingPong = i % 7 == 0, .ctasPerTile = i % 6 == 1 ? 4u : 1u};
    if (i % 8 == 5)
      cost.config.wgmma = false;
    gemm.variants.push_back(std::move(next));
  }
  gemm.variants.push_back(gemm.variants.back()); // takes as long as the last one
  gemm.variants.back().manifest.variant = "same";
  const Chooser chooser = gemm.chooser();
  const DeviceVariants device = chooser.onDevice(h200);
  std::mt19937_64 random(11);
  const auto size = [&] { return static_cast<int32_t>(int64_t(1) << random() % 14 | random() % 512) & ~7; };
  std::map<int32_t, int> seen;
  for (int i = 0; i < 20000; ++i) {
    Arguments x{.m = size(), .n = size(), .k = size(), .lda = random() % 2 ? 4096 : 512};
    const auto list = x.list();
    const Call call{list.data(), nullptr};
    Choice expected{-1, false, -1, {}};
    for (size_t index = 1; index < chooser.size(); ++index)
      if (const double time = chooser.estimate(index, call, device);
          chooser.explain(index, call, device) && (expected.index < 0 || time < expected.microseconds))
        expected = {static_cast<int32_t>(index), false, time, {}};
    const Choice choice = chooser.choose(call, device);
    ASSERT_EQ(choice.index, expected.index) << x.m << ' ' << x.n << ' ' << x.k;
    ASSERT_EQ(choice.microseconds, expected.microseconds);
    ++seen[choice.index];
  }
  EXPECT_GT(seen.size(), 8u);
}

// Most conditions are tested in a few instructions, which must give the same result as the conditions.
TEST(Choice, simpleConditionsAgreeWithTheirTests) {
  Manifest general = gemmManifest("general"), variant = alignedGemm("aligned", 128, 256);
  general.parameters[5].type = variant.parameters[5].type = DataType::U64; // K
  variant.parameters[4].divisibility = 48;                                 // N
  variant.parameters.erase(variant.parameters.begin() + 3);                // M
  variant.constants.emplace_back("M", int64_t(-64));
  variant.tensorMaps[0].shape = {"M + 1", "K"};
  variant.tensorMaps.push_back(
      {.base = "b", .element = DataType::F8E4M3, .shape = {"N", "lda"}, .strides = {"K"}, .box = {64, 64}});
  Result<std::vector<Condition>> conditions = deriveConditions(variant, general);
  ASSERT_TRUE(bool(conditions)) << conditions.error().message;
  std::mt19937_64 random(9);
  size_t simple = 0, kept = 0, broken = 0;
  for (const Condition &condition : *conditions) {
    const std::optional<SlotTest> test = simplify(condition);
    if (!test)
      continue;
    ++simple;
    for (int i = 0; i < 20000; ++i) {
      std::array<int64_t, 8> slots;
      for (int64_t &slot : slots)
        slot = random() % 8 == 0 ? -64 : int64_t(random() >> random() % 64) & -(int64_t(1) << random() % 8);
      const bool expected = holds(condition, {slots, general});
      ASSERT_EQ(test->holds(slots), expected) << explainFailure(condition, {slots, general}).message;
      ++(expected ? kept : broken);
    }
  }
  EXPECT_EQ(simple, conditions->size() - 2); // except N, and M + 1
  EXPECT_GT(kept, 20000u);
  EXPECT_GT(broken, 20000u);
}

TEST(Choice, saysWhatACallIsExpectedToTake) {
  const Gemm gemm;
  const Chooser chooser = gemm.chooser();
  const Choice choice = chooseFor(chooser, {.m = 8192, .n = 8192, .k = 8192, .lda = 8192}, chooser.onDevice(h200));
  EXPECT_EQ(nameOf(chooser, choice), "aligned-128x256");
  EXPECT_GT(choice.microseconds, 1000);
  EXPECT_FALSE(choice.isMeasured);
  // A smaller device takes longer.
  const DeviceFacts small{9, 0, 66, 232448, true};
  EXPECT_GT(chooseFor(chooser, {.m = 8192, .n = 8192, .k = 8192, .lda = 8192}, chooser.onDevice(small)).microseconds,
            1.5 * choice.microseconds);
}

TEST(Choice, withoutTimesMoreConditionsComeFirstThenTheOrder) {
  Gemm gemm;
  for (PackedVariant &variant : gemm.variants)
    variant.manifest.cost.reset();
  gemm.variants.push_back(gemm.variants[1]);
  gemm.variants.back().manifest.variant = "later";
  EXPECT_EQ(chosen(gemm, {}), "aligned-128x256");
  EXPECT_EQ(chosen(gemm, {.lda = 511}), "general");
  gemm.variants[3].manifest.parameters[3].divisibility = 16; // M
  EXPECT_EQ(chosen(gemm, {}), "later");
  gemm.variants[1].manifest.cost = CostSpec{"M", "N", "K", {}, {64, 64, 64, 1, 4, 3, true}, {}};
  EXPECT_EQ(chosen(gemm, {}), "aligned-128x256"); // the expected time is known
}

TEST(Choice, equalTimesLeaveTheOrder) {
  Gemm gemm;
  gemm.variants[2] = gemm.variants[1];
  gemm.variants[2].manifest.variant = "twin";
  EXPECT_EQ(chosen(gemm, {}), "aligned-128x256");
  std::swap(gemm.variants[1], gemm.variants[2]);
  EXPECT_EQ(chosen(gemm, {}), "twin");
}

TEST(Choice, specificTargetsComeFirst) {
  Gemm gemm;
  gemm.variants[0].manifest = gemmManifest("general", "sm_80");
  gemm.variants.push_back({gemmManifest("general", "sm_90"), "x", ""});
  gemm.variants.push_back({alignedGemm("aligned", 64, 128, "sm_80"), "x", ""});
  EXPECT_EQ(chosen(gemm, {}), "aligned-128x256"); // the variant for sm_90a
  EXPECT_EQ(chosen(gemm, {.lda = 511}), "general");
  const Chooser chooser = gemm.chooser();
  EXPECT_EQ(chooseFor(chooser, {.lda = 511}, chooser.onDevice(h200)).index, 3); // the variant for sm_90
  EXPECT_EQ(chosen(gemm, {}, {8, 6, 82, 101376, true}), "aligned");
  EXPECT_EQ(chosen(gemm, {.lda = 511}, {8, 6, 82, 101376, true}), "general");
  EXPECT_EQ(chosen(gemm, {}, {7, 5, 40, 65536, true}), "none");
  EXPECT_EQ(nameOf(chooser, chooseFor(chooser, {}, chooser.onTarget("sm_80", 108))), "aligned");
}

TEST(Choice, variantsThatTheDeviceCannotRunAreLeftOut) {
  Gemm gemm;
  gemm.variants[1].manifest.launch.sharedDynamic = 200000;
  const DeviceFacts small{9, 0, 132, 150000, true}, old{9, 0, 132, 232448, false};
  EXPECT_EQ(chosen(gemm, {}, small), "general");
  EXPECT_EQ(whyNot(gemm, 1, {}, small), "it needs 200000 bytes of shared memory per block but the device has 150000");
  EXPECT_EQ(chosen(gemm, {}, old), "general"); // whose driver encodes no tensor maps
}

TEST(Choice, callersGridKeepsTheProgramsOfVariant0) {
  Gemm gemm;
  const Chooser chooser = gemm.chooser();
  const DeviceVariants device = chooser.onDevice(h200);
  Arguments arguments;
  const auto list = arguments.list();
  const int64_t grid[3] = {64, 1, 1}, wide[3] = {int64_t(1) << 31, 1, 1};
  EXPECT_EQ(nameOf(chooser, chooser.choose({list.data(), nullptr}, device)), "aligned-128x256");
  // BLOCK differs in the other variant
  EXPECT_EQ(nameOf(chooser, chooser.choose({list.data(), grid}, device)), "general");
  EXPECT_EQ(nameOf(chooser, chooser.choose({list.data(), wide}, device)), "none");
  EXPECT_EQ(nameOf(chooser, chooser.choose({list.data(), nullptr}, device)), "aligned-128x256");
  const Status why = chooser.explain(1, {list.data(), grid}, device);
  ASSERT_FALSE(bool(why));
  EXPECT_EQ(why.error().message,
            "the caller passes a grid, which applies only to variants with the constants of 'general'");
  gemm.variants[1].manifest.constants = gemm.variants[0].manifest.constants;
  gemm.variants[1].manifest.launch.grid = gemm.variants[0].manifest.launch.grid;
  const Chooser same = gemm.chooser();
  EXPECT_EQ(nameOf(same, same.choose({list.data(), grid}, same.onDevice(h200))), "aligned-128x256");
}

TEST(Choice, memoKeepsDevicesAndArtifactsApart) {
  // The same arguments are repeated, so that all calls but the first are answered by the memo.
  const Gemm gemm;
  Gemm other;
  other.variants[1].manifest.parameters[0].alignment = 4096;
  const Chooser one = gemm.chooser(), two = other.chooser();
  const DeviceVariants large = one.onDevice(h200), ampere = one.onDevice({8, 0, 108, 166912, true}),
                       strict = two.onDevice(h200);
  for (int i = 0; i < 3; ++i)
    for (uint64_t a : {0x1000, 0x1010, 0x1008}) {
      Arguments arguments;
      arguments.a = a;
      EXPECT_EQ(nameOf(one, chooseFor(one, arguments, large)), a % 16 == 0 ? "aligned-128x256" : "general");
      EXPECT_EQ(nameOf(one, chooseFor(one, arguments, ampere)), "none");
      EXPECT_EQ(nameOf(two, chooseFor(two, arguments, strict)), a % 4096 == 0 ? "aligned-128x256" : "general");
    }
}

TEST(Choice, manyIntegersNeedNoMemo) {
  Gemm gemm;
  gemm.variants.resize(2);
  std::vector<int32_t> values(64, 16);
  for (size_t i = 0; i < values.size(); ++i)
    for (PackedVariant &variant : gemm.variants)
      variant.manifest.parameters.push_back(
          {"s" + std::to_string(i), DataType::I32, false, 1, &variant == &gemm.variants[1] ? 16 : 1, {}, {}});
  const Chooser chooser = gemm.chooser();
  const DeviceVariants device = chooser.onDevice(h200);
  EXPECT_FALSE(device.canRemember);
  Arguments arguments;
  const auto first = arguments.list();
  std::vector<void *> list(first.begin(), first.end());
  for (int32_t &value : values)
    list.push_back(&value);
  EXPECT_EQ(nameOf(chooser, chooser.choose({list.data(), nullptr}, device)), "aligned-128x256");
  values[63] = 15;
  EXPECT_EQ(nameOf(chooser, chooser.choose({list.data(), nullptr}, device)), "general");
}

TEST(Choice, unsignedSizesBeyondTheSignedRange) {
  Gemm gemm;
  for (PackedVariant &variant : gemm.variants)
    variant.manifest.parameters[4].type = DataType::U64; // N
  const Chooser chooser = gemm.chooser();
  Arguments arguments;
  auto list = arguments.list();
  uint64_t n = uint64_t(1) << 63;
  list[4] = &n;
  const Call call{list.data(), nullptr};
  EXPECT_EQ(chooser.choose(call, chooser.onDevice(h200)).index, -1);
  EXPECT_EQ(chooser.explain(0, call, chooser.onDevice(h200)).error().message,
            "its grid cannot be evaluated in 64 bits");
}

TEST(Choice, negative_reasonsNameParameterValueAndWhatWasExpected) {
  const Gemm gemm;
  EXPECT_EQ(whyNot(gemm, 1, {}), "");
  EXPECT_EQ(whyNot(gemm, 1, {.b = 0x2002}), "parameter 1 'b' is 0x2002, which is not a multiple of 16 bytes");
  EXPECT_EQ(whyNot(gemm, 1, {.k = 7}), "parameter 5 'K' is 7, which is not a multiple of 8");
  EXPECT_EQ(whyNot(gemm, 2, {.lda = 4097}), "parameter 6 'lda' is 4097; expected 4096");
  EXPECT_EQ(whyNot(gemm, 1, {.lda = -8}), "stride 'lda' of the tensor map of 'a' is -8; expected 0 to 549755813887");
  EXPECT_EQ(whyNot(gemm, 1, {.m = -64}), "dimension 'M' of the tensor map of 'a' is -64; expected 0 to 4294967295");
  EXPECT_EQ(whyNot(gemm, 0, {.m = -64}), "grid dimension 0 is -8; expected 0 to 2147483647");
  EXPECT_TRUE(whyNot(gemm, 0, {}, {8, 0, 108, 0, true}).find("compiled for sm_90a but the device has") !=
              std::string::npos);
  Gemm odd;
  odd.variants[1].manifest.parameters[6].divisibility = 1;
  EXPECT_EQ(whyNot(odd, 1, {.lda = 7}),
            "stride 'lda' of the tensor map of 'a' is 7 elements, 14 bytes, which is not a multiple of 16 bytes");
}

TEST(Choice, negative_equalReasonsAreSaidOnce) {
  Gemm gemm;
  for (int i = 0; i < 20; ++i) {
    gemm.variants.push_back(gemm.variants[1]);
    gemm.variants.back().manifest.variant = "copy" + std::to_string(i);
  }
  const Chooser chooser = gemm.chooser();
  Arguments arguments{.a = 0x1002, .m = -64};
  const auto list = arguments.list();
  const DeviceVariants device = chooser.onDevice(h200);
  const Error all = chooser.explainAll({list.data(), nullptr}, device, 1023);
  EXPECT_EQ(all.code, TILE_ERROR_GRID);
  EXPECT_EQ(all.message, "no variant of kernel 'gemm' serves this call: 'general': grid dimension 0 is -8; expected "
                         "0 to 2147483647; 'aligned-128x256' and 21 others: parameter 0 'a' is 0x1002, which is not "
                         "a multiple of 16 bytes");
  const Error some = chooser.explainAll({list.data(), nullptr}, device, 160);
  EXPECT_EQ(some.message.substr(some.message.size() - 15), "; 1 more reason");
}

TEST(Choice, negative_oneVariantHasNoName) {
  Gemm gemm;
  gemm.variants.resize(1);
  const Chooser chooser = gemm.chooser();
  Arguments arguments{.m = -64};
  const auto list = arguments.list();
  const Error all = chooser.explainAll({list.data(), nullptr}, chooser.onDevice(h200), 1023);
  EXPECT_EQ(all.code, TILE_ERROR_GRID);
  EXPECT_EQ(all.message, "kernel 'gemm' does not serve this call: grid dimension 0 is -8; expected 0 to 2147483647");
}

TEST(Choice, negative_otherDevicesAreNoReason) {
  Gemm gemm;
  gemm.variants.push_back(gemm.variants[0]);
  gemm.variants.back().manifest.target = "sm_80";
  const Chooser chooser = gemm.chooser();
  Arguments arguments{.a = 0x1002, .m = -64};
  const auto list = arguments.list();
  const DeviceVariants device = chooser.onDevice(h200);
  ASSERT_EQ(device.rank.back(), 0u);
  const Error all = chooser.explainAll({list.data(), nullptr}, device, 1023);
  EXPECT_EQ(all.code, TILE_ERROR_GRID);
  EXPECT_EQ(all.message.find("sm_80"), std::string::npos) << all.message;
}

TEST(Choice, negative_tooManyConditions) {
  std::vector<Manifest> manifests(600, alignedGemm("v", 128, 256));
  std::vector<const Manifest *> pointers;
  for (size_t i = 0; i < manifests.size(); ++i) {
    manifests[i].tensorMaps[0].shape = {fmt::format("M + {}", i), "K"};
    manifests[i].tensorMaps[0].strides = {fmt::format("lda + {}", 8 * i)};
    pointers.push_back(&manifests[i]);
  }
  Result<Chooser> chooser = Chooser::make(pointers);
  ASSERT_FALSE(bool(chooser));
  EXPECT_EQ(chooser.error().message, "the variants of kernel 'gemm' have more than 1024 conditions");
}

/// Kernels that are not a GEMM: two configurations of the general kernel, whose programs load BLOCK rows each.
Gemm twoConfigurations() {
  Gemm gemm;
  gemm.variants.erase(gemm.variants.begin() + 2);
  gemm.variants[1].manifest = gemmManifest("large");
  gemm.variants[1].manifest.constants = {{"BLOCK", int64_t(1024)}};
  for (PackedVariant &variant : gemm.variants) {
    variant.manifest.launch.registers = 32;
    variant.manifest.programs =
        ProgramsCost{"cdiv(K, 64)", "0", "cdiv(K, 64) * BLOCK * 64", "0", "0", "BLOCK * K", "0", "(M + N) * K * 2"};
  }
  return gemm;
}

TEST(Choice, asksTheModelOfPrograms) {
  const Gemm gemm = twoConfigurations();
  EXPECT_EQ(chosen(gemm, {.m = 64, .n = 64}), "general");
  const Chooser chooser = gemm.chooser();
  const DeviceVariants device = chooser.onDevice(h200);
  Arguments arguments{.m = 8192, .n = 8192};
  const auto list = arguments.list();
  const Call call{list.data(), nullptr};
  EXPECT_GT(chooser.estimate(0, call, device), 0);
  EXPECT_GT(chooser.estimate(1, call, device), 0);
  const Choice choice = chooser.choose(call, device);
  const double least = std::min(chooser.estimate(0, call, device), chooser.estimate(1, call, device));
  EXPECT_EQ(choice.microseconds, least);
  EXPECT_EQ(chooser.choose(call, device).index, choice.index); // this time, the choice comes from the memo
}

TEST(Choice, takesTheVariantThatPromisesMoreOfEqualWork) {
  Gemm gemm = twoConfigurations();
  Manifest &aligned = gemm.variants[1].manifest;
  aligned = gemm.variants[0].manifest;
  aligned.variant = "aligned";
  aligned.launch.registers = 255; // an estimate from occupancy alone would consider it slower
  for (Parameter &parameter : aligned.parameters)
    if (parameter.isPointer)
      parameter.alignment = 16;
  EXPECT_EQ(chosen(gemm, {}), "aligned");
  EXPECT_EQ(chosen(gemm, {.a = 0x1008}), "general");
}

TEST(Choice, takesTheGeneralVariantLastIfItHasNoModel) {
  Gemm gemm = twoConfigurations();
  gemm.variants[0].manifest.programs.reset();
  gemm.variants[1].manifest.requirements = {"M > 16"};
  EXPECT_EQ(chosen(gemm, {.m = 17}), "large");
  EXPECT_EQ(chosen(gemm, {.m = 16}), "general");
}

} // namespace
