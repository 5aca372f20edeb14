// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which changes of PTX change the hash of its arithmetic: those of the order of additions, and no others.
#include "Order/PtxArithmetic.h"

#include <gtest/gtest.h>

using namespace tile;
using order::PtxArithmetic;

namespace {

std::string kernel(const std::string &body) {
  return R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 x, .param .u32 n)
{
  .reg .pred %p<8>;
  .reg .b32 %r<40>;
  .reg .f32 %f<40>;
  .reg .b64 %rd<40>;
  ld.param.u64 %rd1, [x];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 16;
  add.s64 %rd3, %rd1, %rd2;
)" + body +
         "  ret;\n}\n";
}

PtxArithmetic analyse(const std::string &body) {
  runtime::Result<PtxArithmetic> result = order::analyseArithmetic(kernel(body), "k");
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return result ? *result : PtxArithmetic();
}

std::string hashOf(const std::string &body) {
  return analyse(body).hash;
}

const std::string loads = "  ld.global.f32 %f1, [%rd3];\n  ld.global.f32 %f2, [%rd3+4];\n"
                          "  ld.global.f32 %f3, [%rd3+8];\n";
const std::string store = "  st.global.f32 [%rd3], %f9;\n";

TEST(PtxArithmetic, NamesAndScheduleDoNotMatter) {
  const std::string plain = hashOf(loads + "  add.f32 %f4, %f1, %f2;\n  add.f32 %f9, %f4, %f3;\n" + store);
  EXPECT_EQ(plain, hashOf("  ld.global.f32 %f23, [%rd3+8];\n  ld.global.f32 %f21, [%rd3];\n"
                          "  ld.global.f32 %f22, [%rd3+4];\n  add.f32 %f24, %f21, %f22;\n"
                          "  add.f32 %f29, %f24, %f23;\n  st.global.f32 [%rd3], %f29;\n"));
}

TEST(PtxArithmetic, PlaceOfTheBlockDoesNotMatter) {
  const std::string add = "  add.f32 %f9, %f1, %f2;\n" + store;
  EXPECT_EQ(hashOf(loads + add), hashOf("  add.s64 %rd9, %rd3, 64;\n  ld.global.v2.f32 {%f1, %f2}, [%rd9];\n" + add));
}

TEST(PtxArithmetic, GroupingMatters) {
  EXPECT_NE(hashOf(loads + "  add.f32 %f4, %f1, %f2;\n  add.f32 %f9, %f4, %f3;\n" + store),
            hashOf(loads + "  add.f32 %f4, %f2, %f3;\n  add.f32 %f9, %f1, %f4;\n" + store));
}

TEST(PtxArithmetic, ElementsMatter) {
  EXPECT_NE(hashOf(loads + "  add.f32 %f4, %f1, %f2;\n  add.f32 %f9, %f4, %f3;\n" + store),
            hashOf(loads + "  add.f32 %f4, %f1, %f3;\n  add.f32 %f9, %f4, %f2;\n" + store));
}

TEST(PtxArithmetic, LanesMatter) {
  auto butterfly = [](const std::string &lane) {
    return loads + "  shfl.sync.bfly.b32 %f2, %f1, " + lane + ", 31, -1;\n  add.rn.f32 %f9, %f1, %f2;\n" + store;
  };
  EXPECT_NE(hashOf(butterfly("1")), hashOf(butterfly("2")));
}

// An element of a vector load, a parameter, and a value that a guard keeps are values of their own.
TEST(PtxArithmetic, SourcesOfValuesMatter) {
  const std::string vector = "  ld.global.v2.f32 {%f1, %f2}, [%rd3];\n";
  EXPECT_NE(hashOf(vector + "  fma.rn.f32 %f9, %f1, %f1, %f2;\n" + store),
            hashOf(vector + "  fma.rn.f32 %f9, %f1, %f2, %f2;\n" + store));
  EXPECT_NE(hashOf(loads + "  mov.b32 %f4, %r1;\n  add.f32 %f9, %f1, %f4;\n" + store),
            hashOf(loads + "  mov.b32 %f4, %r2;\n  add.f32 %f9, %f1, %f4;\n" + store));
  const std::string guard = "  setp.lt.u32 %p1, %r2, %r1;\n  mov.f32 %f4, 0f00000000;\n";
  EXPECT_NE(hashOf(loads + guard + "  @%p1 add.f32 %f4, %f1, %f2;\n  mul.f32 %f9, %f4, %f3;\n" + store),
            hashOf(loads + guard + "  add.f32 %f4, %f1, %f2;\n  mul.f32 %f9, %f4, %f3;\n" + store));
}

// An mma reads its accumulator as the last operand, a wgmma as the first.
TEST(PtxArithmetic, AccumulatorsOfMmaMatter) {
  auto mma = [](const std::string &accumulator) {
    return loads +
           "  mov.b32 %r3, %f1;\n  mov.f32 %f20, 0f00000000;\n  mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
           "{%f9, %f10, %f11, %f12}, {%r3, %r3}, {%r3}, {" +
           accumulator + ", %f20, %f20, %f20};\n" + store;
  };
  EXPECT_NE(hashOf(mma("%f2")), hashOf(mma("%f20")));
}

TEST(PtxArithmetic, CallsAndStochasticRoundingAreUnknown) {
  EXPECT_TRUE(analyse(loads + "  add.f32 %f9, %f1, %f2;\n" + store).unknown.empty());
  EXPECT_EQ(analyse(loads + "  cvt.rs.f16x2.f32 %r9, %f1, %f2, %r1;\n").unknown.size(), 1u);
  EXPECT_EQ(analyse(loads + "  cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%rd3], [%r1], 16;\n")
                .unordered.size(),
            1u);
}

TEST(PtxArithmetic, ConstantsAndRoundingMatter) {
  auto scale = [](const std::string &instruction) { return loads + "  " + instruction + ";\n" + store; };
  const std::string twice = hashOf(scale("mul.f32 %f9, %f1, 0f40000000"));
  EXPECT_NE(twice, hashOf(scale("mul.f32 %f9, %f1, 0f40400000")));
  EXPECT_NE(twice, hashOf(scale("mul.rz.f32 %f9, %f1, 0f40000000")));
}

TEST(PtxArithmetic, IntegersDoNotMatter) {
  const std::string add = "  add.f32 %f9, %f1, %f2;\n" + store;
  EXPECT_EQ(hashOf(loads + add), hashOf("  shl.b32 %r9, %r2, 3;\n  xor.b32 %r10, %r9, %r1;\n" + loads + add));
}

TEST(PtxArithmetic, LoopsAreDistinguishedByWhatTheyAdd) {
  auto loop = [](const std::string &step) {
    return "  mov.f32 %f9, 0f00000000;\n  mov.u32 %r3, 0;\nL:\n" + loads + step +
           "  add.s32 %r3, %r3, 1;\n  setp.lt.s32 %p1, %r3, %r1;\n  @%p1 bra L;\n" + store;
  };
  const std::string one = hashOf(loop("  fma.rn.f32 %f9, %f1, %f2, %f9;\n"));
  EXPECT_EQ(one, hashOf(loop("  fma.rn.f32 %f9, %f1, %f2, %f9;\n  add.s64 %rd8, %rd3, 4;\n")));
  EXPECT_NE(one, hashOf(loop("  fma.rn.f32 %f9, %f1, %f2, %f9;\n  fma.rn.f32 %f9, %f1, %f3, %f9;\n")));
  EXPECT_NE(hashOf(loop("  fma.rn.f32 %f9, %f1, %f2, %f9;\n  fma.rn.f32 %f9, %f1, %f3, %f9;\n")),
            hashOf(loop("  fma.rn.f32 %f9, %f1, %f3, %f9;\n  fma.rn.f32 %f9, %f1, %f2, %f9;\n")));
}

TEST(PtxArithmetic, ContractionIsLeftToTheAssembler) {
  const std::string add = "  add.f32 %f9, %f4, %f3;\n" + store;
  EXPECT_EQ(analyse(loads + "  mul.f32 %f4, %f1, %f2;\n" + add).contractible.size(), 1u);
  EXPECT_EQ(analyse(loads + "  mul.rn.f32 %f4, %f1, %f2;\n" + add).contractible.size(), 0u);
  EXPECT_EQ(analyse(loads + "  mul.f32 %f4, %f1, %f2;\n  add.rn.f32 %f9, %f4, %f3;\n" + store).contractible.size(), 0u);
  EXPECT_EQ(analyse(loads + "  mul.f32 %f4, %f1, %f2;\n  mov.f32 %f5, %f4;\n  sub.f32 %f9, %f3, %f5;\n" + store)
                .contractible.size(),
            1u);
}

TEST(PtxArithmetic, AtomicAdditionsAreUnordered) {
  EXPECT_EQ(analyse(loads + "  red.global.add.f32 [%rd3], %f1;\n").unordered.size(), 1u);
  EXPECT_EQ(analyse(loads + "  red.global.add.u32 [%rd3], %r1;\n").unordered.size(), 0u);
  EXPECT_EQ(analyse("  atom.global.cas.b32 %r5, [%rd3], %r1, %r2;\n").unordered.size(), 1u);
}

TEST(PtxArithmetic, ApproximationsAreNamed) {
  const PtxArithmetic result =
      analyse(loads + "  ex2.approx.ftz.f32 %f9, %f1;\n  div.full.f32 %f8, %f9, %f2;\n" + store);
  EXPECT_EQ(result.approximate, (std::vector<std::string>{"div.full", "ex2.approx"}));
}

// Two MMAs whose descriptors are 2 apart, like two blocks of 16 columns of K.
TEST(PtxArithmetic, OrderOfMmasMatters) {
  auto chain = [](const std::string &base, const std::string &first, const std::string &second) {
    const std::string acc = "{%f1, %f2, %f3, %f4}";
    std::string body = base;
    for (const std::string &step : {first, second})
      body += "  add.s64 %rd12, %rd10, " + step + ";\n  add.s64 %rd13, %rd11, " + step +
              ";\n  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + acc + ", %rd12, %rd13, 1, 1, 1, 0, 1;\n";
    // Each step has registers of its own, as in the compiler's output.
    const size_t at = body.find("add.s64 %rd12", body.find("wgmma"));
    for (size_t i = at; (i = body.find("%rd12", i)) != std::string::npos;)
      body.replace(i, 5, "%rd22");
    for (size_t i = at; (i = body.find("%rd13", i)) != std::string::npos;)
      body.replace(i, 5, "%rd23");
    return loads + "  mov.f32 %f4, 0f00000000;\n" + body + store;
  };
  const std::string base = "  shl.b64 %rd10, %rd1, 1;\n  shl.b64 %rd11, %rd2, 1;\n";
  const std::string later = "  shl.b64 %rd30, %rd1, 3;\n  shl.b64 %rd11, %rd2, 1;\n  add.s64 %rd10, %rd30, 512;\n";
  EXPECT_EQ(hashOf(chain(base, "0", "2")), hashOf(chain(later, "0", "2")));
  EXPECT_NE(hashOf(chain(base, "0", "2")), hashOf(chain(base, "2", "0")));
  EXPECT_NE(hashOf(chain(base, "0", "2")), hashOf(chain(base, "0", "4")));
}

TEST(PtxArithmetic, CodeIgnoresCommentsAndPositions) {
  const std::string add = "  add.f32 %f9, %f1, %f2;\n" + store;
  EXPECT_EQ(analyse(loads + add).code, analyse(loads + "  // comment\n\n" + add).code);
  EXPECT_NE(analyse(loads + add).code, analyse(loads + add + store).code);
}

TEST(PtxArithmetic, NegativeUnknownKernel) {
  runtime::Result<PtxArithmetic> result = order::analyseArithmetic(kernel(""), "other");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "the PTX has no kernel 'other'");
}

} // namespace
