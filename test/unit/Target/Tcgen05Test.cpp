// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dots that tcgen05 supports, and the instruction descriptor.
#include "Target/Engines/Tcgen05.h"
#include "Target/Engines/BufferEngines.h"

#include <gtest/gtest.h>

using namespace tile::target;

namespace {

const GpuTarget &blackwell = *findTarget("sm_100a");

WgmmaDot dotOf(int64_t m, int64_t n, int64_t k, unsigned numWarps = 4) {
  return {.m = m, .n = n, .k = k, .numWarps = numWarps};
}

Tcgen05Plan plan(const WgmmaDot &dot) {
  return planTcgen05(blackwell, dot).plan.value_or(Tcgen05Plan{});
}

std::string whyNot(const WgmmaDot &dot, const GpuTarget &target = blackwell) {
  return planTcgen05(target, dot).reason;
}

} // namespace

TEST(Tcgen05, instructions) {
  EXPECT_EQ(plan(dotOf(128, 256, 64)), (Tcgen05Plan{128, 256, 16}));
  EXPECT_EQ(plan(dotOf(256, 512, 64, 8)), (Tcgen05Plan{}));
  EXPECT_EQ(plan(dotOf(128, 512, 64, 8)), (Tcgen05Plan{128, 256, 16}));
  EXPECT_EQ(plan(dotOf(64, 8, 16)), (Tcgen05Plan{64, 8, 16}));
  EXPECT_EQ(plan(dotOf(128, 160, 64, 8)), (Tcgen05Plan{128, 160, 16}));
}

TEST(Tcgen05, reasons) {
  EXPECT_EQ(whyNot(dotOf(32, 64, 64)), "tcgen05 needs at least 64 rows; a has 32; use larger blocks");
  EXPECT_EQ(whyNot(dotOf(64, 64, 8)), "tcgen05 needs at least 256 bits along k; a has 128; use larger blocks");
  EXPECT_EQ(whyNot(dotOf(64, 64, 64, 2)), "tcgen05 needs groups of 4 warps; the kernel has 2; use num_warps=4");
  EXPECT_EQ(whyNot(dotOf(128, 8, 64)), "tcgen05 has no instruction of 128 rows and 8 columns; use more columns");
  EXPECT_EQ(whyNot(dotOf(64, 16, 64, 16)),
            "tcgen05 needs at least 8 columns per warp group; b has only 16 for 4 groups; use fewer warps");
  EXPECT_EQ(whyNot(dotOf(256, 512, 64)),
            "the accumulator needs 1024 columns of tensor memory, which has 512; use smaller blocks");
  EXPECT_EQ(whyNot(dotOf(96, 64, 64)), "tcgen05 needs sizes that are powers of two, or a multiple of 16 columns");
  EXPECT_EQ(whyNot({.m = 64, .n = 8, .k = 64, .bKMajor = false}),
            "tcgen05 requires rows of b to have at least 32 bytes; use more columns");
  WgmmaDot held = dotOf(128, 64, 64), mixed = held, narrow = held;
  held.fromRegisters = true;
  EXPECT_EQ(whyNot(held), "");
  held.m = 64;
  EXPECT_EQ(whyNot(held), "tcgen05 reads a from tensor memory only with 128 rows and without scales");
  held.m = 256;
  held.n = 256;
  EXPECT_EQ(whyNot(held), "the accumulator needs 576 columns of tensor memory, which has 512; use smaller blocks");
  mixed.b = MmaType::BF16;
  EXPECT_EQ(whyNot(mixed), "tcgen05 does not multiply f16 and bf16 into f32");
  narrow.accumulator = MmaType::F16;
  EXPECT_EQ(whyNot(narrow), "tcgen05 does not multiply f16 and f16 into f16; use an accumulator of f32");
  WgmmaDot fp8 = dotOf(128, 64, 64);
  fp8.a = MmaType::F8E4M3;
  fp8.b = MmaType::F8E5M2;
  EXPECT_EQ(whyNot(fp8), "");
  fp8.bKMajor = false;
  EXPECT_EQ(whyNot(fp8), "operands of e4m3 need k contiguous in both; transpose the other");
}

TEST(Tcgen05, integersDependOnTheTarget) {
  WgmmaDot dot = dotOf(128, 64, 64);
  dot.a = dot.b = MmaType::S8;
  dot.accumulator = MmaType::S32;
  EXPECT_EQ(whyNot(dot), "");
  EXPECT_EQ(whyNot(dot, *findTarget("sm_103a")), "tcgen05 of sm_103a does not multiply integers; compile for sm_100a");
  EXPECT_EQ(whyNot(dot, *findTarget("sm_120a")), "sm_120a has no tcgen05; sm_100a has it");
}

// M 128, N 256, b with n contiguous.
TEST(Tcgen05, descriptor) {
  uint32_t bits = tcgen05Descriptor(MmaType::BF16, MmaType::BF16, MmaType::F32, 128, 256, true, false);
  EXPECT_EQ(bits >> 4 & 3, 1u);
  EXPECT_EQ(bits >> 7 & 7, 1u);
  EXPECT_EQ(bits >> 10 & 7, 1u);
  EXPECT_EQ(bits >> 15 & 3, 2u);
  EXPECT_EQ(bits >> 17 & 63, 32u);
  EXPECT_EQ(bits >> 24 & 31, 8u);
  EXPECT_EQ(tcgen05Descriptor(MmaType::S8, MmaType::S8, MmaType::S32, 64, 32, true, true) >> 4 & 3, 2u);
}

namespace {

WgmmaDot scaled(MmaType type, unsigned group, int64_t m = 128, int64_t n = 128, int64_t k = 256) {
  return {.a = type, .b = type, .m = m, .n = n, .k = k, .scaleGroup = group};
}

} // namespace

TEST(Tcgen05, scales) {
  constexpr MmaType e2m1 = MmaType::F4E2M1, e5m2 = MmaType::F8E5M2;
  EXPECT_EQ(plan(scaled(e2m1, 32)), (Tcgen05Plan{128, 128, 64}));
  EXPECT_EQ(plan(scaled(e2m1, 16, 256, 64)), (Tcgen05Plan{128, 64, 64}));
  EXPECT_EQ(plan(scaled(e5m2, 32)), (Tcgen05Plan{128, 128, 32}));
  EXPECT_EQ(whyNot(scaled(e2m1, 32, 64)), "tcgen05 needs at least 128 rows with scales; a has 64; use larger blocks");
  EXPECT_EQ(whyNot(scaled(e5m2, 16)), "tcgen05 does not multiply e5m2 and e5m2 with such scales into f32");
  EXPECT_EQ(whyNot(scaled(MmaType::F16, 32)), "tcgen05 does not multiply f16 and f16 with such scales into f32");
  EXPECT_EQ(whyNot(scaled(e2m1, 32, 128, 64, 128)),
            "tcgen05 needs multiples of 128 columns and 4 groups along k with scales; b has 64 columns and 4 groups");
  EXPECT_EQ(whyNot(scaled(e2m1, 32, 256, 256)),
            "the accumulator needs 544 columns of tensor memory, which has 512; use smaller blocks");
  EXPECT_EQ(tcgen05Suffix(e2m1, 32), ".kind::mxf4.block_scale.block32");
  EXPECT_EQ(tcgen05Suffix(e2m1, 16), ".kind::mxf4nvf4.block_scale.block16");
  EXPECT_EQ(tcgen05Suffix(e5m2, 32), ".kind::mxf8f6f4.block_scale.block32");
  EXPECT_EQ(scalesOfInstruction(e2m1, 16), 4u);
  EXPECT_EQ(scalesOfInstruction(e2m1, 32), 2u);
  EXPECT_EQ(scalesOfInstruction(e5m2, 32), 1u);
  // 128 x 128, the second pair of scales, of type ue8m0.
  EXPECT_EQ(tcgen05ScaledDescriptor(e2m1, e2m1, 128, 128, 32, 2),
            2u << 29 | 8u << 24 | 1u << 23 | 16u << 17 | 1u << 10 | 1u << 7 | 2u << 4);
}

TEST(Tcgen05, columnsOfAccumulators) {
  EXPECT_EQ(tensorColumnsOf(64, 64), 64u);
  EXPECT_EQ(tensorColumnsOf(128, 160), 256u);
  EXPECT_EQ(tensorColumnsOf(256, 128), 256u);
}

TEST(BufferEngines, oneForEachTarget) {
  for (const GpuTarget *target : allTargets()) {
    EXPECT_EQ(planBufferEngine(*target, dotOf(64, 64, 64)).isPlanned, hasBufferEngine(*target)) << target->name;
    EXPECT_EQ(whyNoBufferEngine(*target, dotOf(64, 64, 64)).empty(), hasBufferEngine(*target)) << target->name;
  }
  EXPECT_EQ(nameOfBufferEngine(blackwell), "tcgen05");
  EXPECT_EQ(nameOfBufferEngine(*findTarget("sm_90a")), "wgmma");
}
