// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions of sm_100 and later, by the rules of the PTX ISA, with values computed by hand.
#include "SimulatedKernel.h"

#include <bit>
#include <cmath>

using namespace tile::sim;

namespace {

/// A kernel of one thread for sm_100a, or another target.
std::unique_ptr<SimulatedKernel> make(const std::string &body, const std::string &target = "sm_100a",
                                      unsigned threads = 1) {
  auto kernel = std::make_unique<SimulatedKernel>(body, 1, "", SimulatedKernel::Setup{"9.0", target, 4096, 4096});
  kernel->threads = threads;
  return kernel;
}

template <typename T> std::vector<T> results(const std::string &body, size_t count) {
  auto kernel = make(body);
  kernel->expectNone();
  std::vector<T> values(count);
  std::memcpy(values.data(), kernel->buffers[0].data(), count * sizeof(T));
  return values;
}

std::string bits(float value) {
  return std::to_string(std::bit_cast<uint32_t>(value));
}

TEST(Blackwell, pairsOfFloatsRoundSeparately) {
  // 1 + 2^-24 is a tie; 1 + 3 * 2^-25 is above it.
  const std::string load = "mov.b32 %r1, 0x3f800000;\nmov.b32 %r2, 0x33800000;\nmov.b32 %r3, 0x33c00000;\n"
                           "mov.b64 %d1, {%r1, %r1};\nmov.b64 %d2, {%r2, %r3};\n";
  auto add = [&](const std::string &rounding) {
    return results<uint32_t>(load + "add." + rounding + ".f32x2 %d3, %d1, %d2;\nst.global.b64 [%d0], %d3;", 2);
  };
  EXPECT_EQ(add("rn"), (std::vector<uint32_t>{0x3f800000, 0x3f800001}));
  EXPECT_EQ(add("rz"), (std::vector<uint32_t>{0x3f800000, 0x3f800000}));
  EXPECT_EQ(add("rp"), (std::vector<uint32_t>{0x3f800001, 0x3f800001}));
  // The product is not rounded before the sum: (1 + 2^-23)^2 - 1 = 2^-22 + 2^-46, upwards.
  EXPECT_EQ(results<uint32_t>("mov.b32 %r1, 0x3f800001;\nmov.b32 %r2, 0xbf800000;\nmov.b64 %d1, {%r1, %r2};\n"
                              "mov.b64 %d2, {%r2, %r2};\nfma.rp.f32x2 %d3, %d1, %d1, %d2;\nst.global.b64 [%d0], %d3;",
                              2),
            (std::vector<uint32_t>{0x34800001, 0}));
}

TEST(Blackwell, sumsOfMixedPrecision) {
  // 1024.5 in f16 is 1024 or 1025; its sum with a float is rounded once.
  EXPECT_EQ(results<float>("mov.b16 %h1, 0x3c01;\nmov.b32 %r1, " + bits(2048) +
                               ";\n.reg .f32 %f;\nmov.b32 %f, %r1;\nadd.f32.f16 %f, %h1, %f;\nst.global.f32 [%d0], %f;",
                           1),
            (std::vector<float>{2048 + 1 + 1.0f / 1024}));
  EXPECT_EQ(results<float>("mov.b16 %h1, 0x3f80;\nmov.b16 %h2, 0x4040;\n.reg .f32 %f;\nmov.f32 %f, 0f3F000000;\n"
                           "fma.rn.f32.bf16 %f, %h1, %h2, %f;\nst.global.f32 [%d0], %f;",
                           1),
            (std::vector<float>{3.5f}));
}

TEST(Blackwell, extremesOfThree) {
  auto extreme = [](const std::string &instruction, float a, float b, float c) {
    return results<float>(".reg .f32 %f<4>;\nmov.b32 %f1, " + bits(a) + ";\nmov.b32 %f2, " + bits(b) +
                              ";\nmov.b32 %f3, " + bits(c) + ";\n" + instruction +
                              ".f32 %f0, %f1, %f2, %f3;\nst.global.f32 [%d0], %f0;",
                          1)[0];
  };
  const float nan = std::bit_cast<float>(0x7fc00000u);
  EXPECT_EQ(extreme("max", 1, -5, 3), 3);
  EXPECT_EQ(extreme("min", 1, -5, 3), -5);
  EXPECT_EQ(extreme("max.abs", 1, -5, 3), 5);
  EXPECT_EQ(extreme("min.ftz.abs", -1, -5, 3), 1);
  EXPECT_EQ(extreme("max", 1, nan, 3), 3);
  EXPECT_TRUE(std::isnan(extreme("max.ftz.NaN.abs", 1, nan, 3)));
}

TEST(Blackwell, atomicsOf128Bits) {
  const std::string start = ".reg .b128 %q<4>;\nmov.b64 %d4, 1;\nmov.b64 %d5, 2;\nmov.b64 %d6, 0;\n"
                            "mov.b128 %q1, {%d4, %d5};\nmov.b128 %q0, {%d6, %d6};\n";
  const std::string finish = "mov.b128 {%d7, %d8}, %q3;\nst.global.v2.b64 [%d0+16], {%d7, %d8};";
  // The second exchange does nothing, because memory no longer holds zeros.
  EXPECT_EQ(results<uint64_t>(start +
                                  "atom.global.relaxed.gpu.cas.b128 %q3, [%d0], %q0, %q1;\n"
                                  "atom.global.relaxed.gpu.cas.b128 %q3, [%d0], %q0, %q0;\n" +
                                  finish,
                              4),
            (std::vector<uint64_t>{1, 2, 1, 2}));
  EXPECT_EQ(results<uint64_t>(start + "atom.global.relaxed.gpu.exch.b128 %q3, [%d0], %q1;\n" + finish, 4),
            (std::vector<uint64_t>{1, 2, 0, 0}));
}

TEST(Blackwell, bulkStoresOfZeros) {
  EXPECT_EQ(
      results<uint32_t>("mov.b32 %r1, 7;\nmov.u32 %r2, data;\nst.shared.v4.b32 [%r2], {%r1, %r1, %r1, %r1};\n"
                        "st.shared.v4.b32 [%r2+16], {%r1, %r1, %r1, %r1};\nst.bulk.weak.shared::cta [%r2+8], 16, 0;\n"
                        "ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r2];\nst.global.v4.b32 [%d0], {%r3, %r4, %r5, %r6};\n"
                        "ld.shared.v4.b32 {%r3, %r4, %r5, %r6}, [%r2+16];\n"
                        "st.global.v4.b32 [%d0+16], {%r3, %r4, %r5, %r6};\n",
                        8),
      (std::vector<uint32_t>{7, 7, 0, 0, 0, 0, 7, 7}));
  make("mov.u32 %r2, data;\nst.bulk.shared::cta [%r2], 12, 0;")
      ->expectAlways(ReportKind::InvalidOperand, "st.bulk of 12 bytes");
  make("st.bulk [%d0], 16, 0;")->expectAlways(ReportKind::InvalidOperand, "only to shared memory");
  make("mov.u32 %r2, data;\nst.bulk.shared::cta [%r2+4088], 16, 0;")->expectAlways(ReportKind::OutOfBounds, "");
}

TEST(Blackwell, knowsWhetherThereIsACluster) {
  const std::string body = "mov.pred %p1, %is_explicit_cluster;\nselp.b32 %r1, 5, 6, %p1;\nst.global.b32 [%d0], %r1;";
  EXPECT_EQ(results<uint32_t>(body, 1)[0], 6u);
  auto kernel = make(body);
  kernel->ctas = kernel->clusterSize = 2;
  kernel->expectNone();
  uint32_t value = 0;
  std::memcpy(&value, kernel->buffers[0].data(), sizeof(value));
  EXPECT_EQ(value, 5u);
}

TEST(Blackwell, loadsThatReduce) {
  // Thread t stores t, -2 t, 3 and NaN.
  auto run = [](const std::string &reduction, const std::string &target) {
    auto kernel = make(".shared .align 4 .b32 tptr;\n.reg .f32 %f<8>;\n"
                       "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tptr], 32;\nbar.sync 0;\n"
                       "ld.shared.b32 %r10, [tptr];\ncvt.rn.f32.u32 %f0, %r0;\nmul.f32 %f1, %f0, 0fC0000000;\n"
                       "mov.f32 %f2, 0f40400000;\nmov.f32 %f3, 0f7FC00000;\n"
                       "tcgen05.st.sync.aligned.32x32b.x4.b32 [%r10], {%f0, %f1, %f2, %f3};\n"
                       "tcgen05.wait::st.sync.aligned;\ntcgen05.ld.red.sync.aligned.32x32b.x4." +
                           reduction +
                           " {%f4, %f5, %f6, %f7}, %f0, [%r10];\ntcgen05.wait::ld.sync.aligned;\n"
                           "mul.wide.u32 %d1, %r0, 8;\nadd.s64 %d1, %d0, %d1;\nst.global.v2.f32 [%d1], {%f0, %f5};\n"
                           "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 32;\n",
                       target, 32);
    kernel->expectNone();
    return reinterpret_cast<const float *>(kernel->buffers[0].data())[2 * 5];
  };
  EXPECT_EQ(run("max.f32", "sm_103a"), 5.0f);
  EXPECT_EQ(run("min.f32", "sm_103a"), -10.0f);
  EXPECT_EQ(run("max.abs.f32", "sm_110a"), 10.0f);
  EXPECT_TRUE(std::isnan(run("min.NaN.f32", "sm_103f")));
  const auto module = parsePtx(".version 9.0\n.target sm_100a\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n"
                               "tcgen05.ld.red.sync.aligned.32x32b.x2.max.f32 {%r0, %r1}, %r2, [%r3];\nret;\n}\n");
  ASSERT_TRUE(module);
  GlobalMemory memory;
  const auto refused = Program::load(*module, "k", memory);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("sm_100a has no .red"), std::string::npos) << refused.error().message;
}

} // namespace
