// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The engines: the MMAs that wgmma and mma.sync accept, with which instruction and on which grid.
#include "Target/Engines/MmaSync.h"
#include "Target/Engines/Wgmma.h"

#include <gtest/gtest.h>

using namespace tile::target;

namespace {

const GpuTarget &hopper = *findTarget("sm_90a");

WgmmaDot dot(int64_t m, int64_t n, int64_t k, unsigned numWarps = 4) {
  return {.m = m, .n = n, .k = k, .numWarps = numWarps};
}

WgmmaPlan plan(const WgmmaDot &dot) {
  return planWgmma(hopper, dot).plan.value_or(WgmmaPlan{});
}

bool isRefused(const WgmmaDot &dot) {
  WgmmaResult result = planWgmma(hopper, dot);
  return !result.plan && !result.reason.empty();
}

} // namespace

TEST(Wgmma, groupsAlongMFirst) {
  EXPECT_EQ(plan(dot(64, 128, 64)), (WgmmaPlan{128, 16, 1, 1}));
  EXPECT_EQ(plan(dot(128, 256, 64, 8)), (WgmmaPlan{256, 16, 2, 1}));
  EXPECT_EQ(plan(dot(64, 256, 64, 8)), (WgmmaPlan{128, 16, 1, 2}));
  EXPECT_EQ(plan(dot(128, 512, 64, 16)), (WgmmaPlan{256, 16, 2, 2}));
}

TEST(Wgmma, onlyTargetsThatHaveIt) {
  for (const GpuTarget *target : allTargets())
    EXPECT_EQ(planWgmma(*target, dot(64, 64, 64)).plan.has_value(), target->has(Feature::Wgmma)) << target->name;
}

TEST(Wgmma, typesAndOrders) {
  WgmmaDot bytes{.a = MmaType::S8, .b = MmaType::S8, .accumulator = MmaType::S32, .m = 64, .n = 64, .k = 64};
  EXPECT_EQ(plan(bytes), (WgmmaPlan{64, 32, 1, 1}));
  bytes.bKMajor = false; // only 16-bit types may be MN-major
  EXPECT_TRUE(isRefused(bytes));
  bytes.bKMajor = true;
  bytes.fromRegisters = true;
  EXPECT_EQ(plan(bytes), (WgmmaPlan{64, 32, 1, 1}));
  WgmmaDot halves = dot(64, 64, 64);
  halves.aKMajor = halves.bKMajor = false;
  EXPECT_EQ(plan(halves), (WgmmaPlan{64, 16, 1, 1}));
  halves.b = MmaType::BF16;
  EXPECT_TRUE(isRefused(halves));
  halves.b = MmaType::F16;
  halves.accumulator = MmaType::F16;
  EXPECT_EQ(plan(halves), (WgmmaPlan{64, 16, 1, 1}));
  halves.a = halves.b = MmaType::BF16;
  EXPECT_TRUE(isRefused(halves));
  WgmmaDot rounded{.a = MmaType::TF32, .b = MmaType::TF32, .m = 64, .n = 64, .k = 32};
  EXPECT_EQ(plan(rounded), (WgmmaPlan{64, 8, 1, 1}));
  rounded.aKMajor = false;
  EXPECT_TRUE(isRefused(rounded));
  rounded.fromRegisters = true;
  EXPECT_EQ(plan(rounded), (WgmmaPlan{64, 8, 1, 1}));
}

TEST(Wgmma, promotion) {
  WgmmaDot bytes{.a = MmaType::F8E4M3, .b = MmaType::F8E5M2, .m = 64, .n = 256, .k = 64};
  EXPECT_EQ(plan(bytes), (WgmmaPlan{256, 32, 1, 1}));
  // The smallest interval is one K step of an instruction; instructions then have half of the columns.
  bytes.imprecise = 0;
  EXPECT_EQ(plan(bytes), (WgmmaPlan{128, 32, 1, 1, 32}));
  bytes.imprecise = 33;
  bytes.n = 128;
  EXPECT_EQ(plan(bytes), (WgmmaPlan{128, 32, 1, 1, 64}));
  bytes.n = 160; // cannot be split into parts of 128 columns
  EXPECT_EQ(plan(bytes).n, 160u);
}

TEST(Wgmma, reasons) {
  auto reason = [](const WgmmaDot &dot) { return planWgmma(hopper, dot).reason; };
  EXPECT_EQ(reason(dot(32, 64, 64)), "wgmma needs at least 64 rows; a has 32");
  EXPECT_EQ(reason(dot(64, 64, 8)), "wgmma needs at least 256 bits along k; a has 128");
  EXPECT_EQ(reason(dot(64, 64, 64, 2)), "wgmma needs groups of 4 warps; the kernel has 2");
  EXPECT_EQ(reason(dot(64, 8, 64, 8)), "wgmma needs at least 8 columns per warp group; b has only 8 for 2 groups");
}

TEST(Wgmma, sizes) {
  EXPECT_TRUE(isRefused(dot(32, 64, 64)));
  EXPECT_TRUE(isRefused(dot(64, 64, 8)));     // 16 bytes along k
  EXPECT_TRUE(isRefused(dot(64, 64, 64, 2))); // half a warp group
  EXPECT_TRUE(isRefused(dot(64, 8, 64, 8)));  // 4 columns for each group
  EXPECT_EQ(plan(dot(64, 8, 64)).n, 8u);
  WgmmaDot few = dot(64, 8, 64);
  few.bKMajor = false; // rows of 16 bytes, less than a swizzle
  EXPECT_TRUE(isRefused(few));
}

TEST(Wgmma, columnsThatAreNoPowerOfTwo) {
  EXPECT_EQ(plan(dot(64, 160, 64)).n, 160u);
  EXPECT_TRUE(isRefused(dot(64, 168, 64)));    // not a multiple of 16
  EXPECT_TRUE(isRefused(dot(64, 160, 64, 8))); // two groups side by side
  EXPECT_TRUE(isRefused(dot(64, 160, 128)));   // two panels along k
  EXPECT_TRUE(isRefused(dot(144, 128, 64)));
  EXPECT_EQ(plan(dot(144, 128, 64).swapped()).n, 144u);
}

TEST(Wgmma, swapping) {
  WgmmaDot given = dot(16, 128, 64);
  given.aKMajor = false;
  WgmmaDot swapped = given.swapped();
  EXPECT_EQ(swapped.m, 128);
  EXPECT_EQ(swapped.n, 16);
  EXPECT_TRUE(swapped.aKMajor);
  EXPECT_FALSE(swapped.bKMajor);
  EXPECT_TRUE(isRefused(given));
  EXPECT_EQ(plan(swapped), (WgmmaPlan{16, 16, 1, 1}));
}

TEST(Wgmma, instructions) {
  EXPECT_TRUE(isWgmmaInstruction(MmaType::F16, MmaType::F16, MmaType::F32, 256));
  EXPECT_TRUE(isWgmmaInstruction(MmaType::F8E4M3, MmaType::F8E5M2, MmaType::F32, 8));
  EXPECT_FALSE(isWgmmaInstruction(MmaType::F16, MmaType::F16, MmaType::F32, 260));
  EXPECT_FALSE(isWgmmaInstruction(MmaType::F16, MmaType::F16, MmaType::F32, 264));
  EXPECT_FALSE(isWgmmaInstruction(MmaType::F16, MmaType::BF16, MmaType::F32, 64));
  EXPECT_FALSE(isWgmmaInstruction(MmaType::S8, MmaType::S8, MmaType::F32, 64));
}

TEST(MmaSync, instructionAndGrid) {
  const GpuTarget &ampere = *findTarget("sm_80"), &turing = *findTarget("sm_75");
  MmaSyncDot given{.m = 128, .n = 128, .k = 32, .numWarps = 4};
  std::optional<MmaSyncPlan> plan = planMmaSync(ampere, given);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->k, 16u);
  EXPECT_EQ(plan->warpsM, 2u);
  EXPECT_EQ(plan->warpsN, 2u);
  EXPECT_EQ(planMmaSync(turing, given)->k, 8u);
  given.k = 8; // half a step
  EXPECT_EQ(planMmaSync(ampere, given)->k, 8u);
  given = {.m = 16, .n = 256, .k = 32, .numWarps = 4};
  EXPECT_EQ(planMmaSync(ampere, given)->warpsN, 4u);
  given.a = given.b = MmaType::F8E4M3;
  EXPECT_FALSE(planMmaSync(ampere, given));
  given.a = given.b = given.accumulator = MmaType::F64; // instructions that have no layouts
  EXPECT_FALSE(planMmaSync(ampere, given));
}

// m64n32k16 of 16 bits: 2 KB of a and 1 KB of b at 128 bytes a clock, 16 clocks of the tensor cores.
TEST(Wgmma, boundBySharedMemory) {
  EXPECT_TRUE(isBoundBySharedMemory(8));
  EXPECT_TRUE(isBoundBySharedMemory(32));
  EXPECT_FALSE(isBoundBySharedMemory(64));
  EXPECT_TRUE(isBoundBySharedMemory(64, /*isWritten=*/true));
  EXPECT_FALSE(isBoundBySharedMemory(128, /*isWritten=*/true));
  EXPECT_FALSE(isBoundBySharedMemory(256));
}

TEST(MmaSync, waste) {
  MmaSyncDot given{.m = 32, .n = 32, .k = 32, .numWarps = 4};
  EXPECT_EQ(whyMmaSyncWastes(given), "");
  given.k = 8;
  EXPECT_NE(whyMmaSyncWastes(given), "");
  given = {.m = 16, .n = 16, .k = 32, .numWarps = 4}; // two tiles for four warps
  EXPECT_NE(whyMmaSyncWastes(given), "");
}

TEST(MmaSync, scales) {
  EXPECT_EQ(whyNoWgmma(*findTarget("sm_90a"), {.a = MmaType::F8E4M3, .b = MmaType::F8E4M3, .scaleGroup = 32}),
            "wgmma takes no scales");
  const GpuTarget &gaming = *findTarget("sm_120a");
  MmaSyncDot dot{.a = MmaType::F4E2M1, .b = MmaType::F4E2M1, .m = 64, .n = 64, .k = 64, .scaleGroup = 16};
  ASSERT_TRUE(planMmaSync(gaming, dot));
  EXPECT_EQ(planMmaSync(gaming, dot)->k, 64u);
  EXPECT_FALSE(planMmaSync(*findTarget("sm_120"), dot));
  dot.a = dot.b = MmaType::F8E4M3;
  EXPECT_FALSE(planMmaSync(gaming, dot)) << "8-bit floats have groups of 32";
  dot.scaleGroup = 32;
  EXPECT_EQ(planMmaSync(gaming, dot)->k, 32u);
  EXPECT_EQ(scaledMmaSuffix(MmaType::F8E4M3, MmaType::F8E5M2, 32),
            ".kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0");
  EXPECT_EQ(scaledMmaSuffix(MmaType::F4E2M1, MmaType::F4E2M1, 32),
            ".kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0");
  EXPECT_EQ(scaledMmaSuffix(MmaType::F4E2M1, MmaType::F4E2M1, 16),
            ".kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3");
}
