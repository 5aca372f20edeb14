// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares every variant of every arithmetic instruction with the results of an H200 for the same inputs: bit by bit,
// or within the bounds of approximate functions.
#include "InstructionRun.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace tile::sim {
namespace {

/// Returns the results of one case from its recorded bytes.
std::vector<uint64_t> unpack(const InstructionCase &instruction, const uint8_t *bytes) {
  unsigned size = kindBits(instruction.result) / 8;
  std::vector<uint64_t> values(instruction.count);
  for (unsigned i = 0; i < instruction.count; ++i)
    std::memcpy(&values[i], bytes + size_t(i) * size, size);
  return values;
}

TEST(Instruction, resultsAreThoseOfTheHardware) {
  std::ifstream file(RECORDED_INSTRUCTIONS, std::ios::binary);
  std::vector<char> recorded{std::istreambuf_iterator<char>(file), {}};
  std::vector<InstructionCase> cases = instructionCases();
  size_t offset = 0;
  for (const InstructionCase &instruction : cases) {
    auto results = simulate(instruction);
    ASSERT_TRUE(results) << instruction.body << ": " << results.error().message;
    std::vector<uint8_t> bytes = record(instruction, *results);
    ASSERT_LE(offset + bytes.size(), recorded.size())
        << "the recording is not of this table: see RecordInstructions.cpp";
    const uint8_t *expected = reinterpret_cast<const uint8_t *>(recorded.data()) + offset;
    offset += bytes.size();
    if (instruction.bound.isExact()) {
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected)) << instruction.body;
      continue;
    }
    std::vector<uint64_t> values = unpack(instruction, expected);
    for (unsigned i = 0; i < instruction.count; ++i)
      EXPECT_TRUE(isClose(instruction, values[i], (*results)[i]))
          << instruction.body << " of " << std::hex << inputs(instruction, 0)[i] << ": expected " << values[i]
          << ", got " << (*results)[i];
  }
  EXPECT_EQ(offset, recorded.size());
}

/// Returns the 32-bit or 64-bit %x9 of each of 32 threads after `body`, in which %r0 is %tid.x.
std::vector<uint64_t> runWarp(const std::string &body) {
  std::vector<uint64_t> results(32);
  auto module = parsePtx(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 pd)\n{\n"
                         ".reg .b32 %r<9>;\n.reg .b64 %x<10>;\n.reg .pred %p<4>;\n.reg .b16 %h<9>;\n.reg .b8 %q<4>;\n"
                         "mov.u32 %r0, %tid.x;\nmov.b64 %x9, 0;\n" +
                         body +
                         "\nld.param.u64 %x8, [pd];\nmul.wide.u32 %x7, %r0, 8;\nadd.s64 %x8, %x8, %x7;\n"
                         "st.global.b64 [%x8], %x9;\nret;\n}\n");
  EXPECT_TRUE(module) << module.error().message;
  if (module) {
    runtime::Status status = runPtx(*module, "k", 1, 32, {std::span(results)});
    EXPECT_TRUE(status) << status.error().message;
  }
  return results;
}

TEST(Instruction, lanesOfDifferentBranchesExchangeApart) {
  std::vector<uint64_t> results = runWarp(R"(
    setp.lt.u32 %p0, %r0, 16;
    @%p0 bra low;
    shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff0000;
    bra join;
  low:
    shfl.sync.idx.b32 %r1, %r0, 3, 31, 0xffff;
  join:
    redux.sync.add.u32 %r2, %r1, -1;
    mad.lo.u32 %r1, %r2, 100, %r1;
    cvt.u64.u32 %x9, %r1;
  )");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(results[lane], (16 * 3 + 16 * 20) * 100 + (lane < 16 ? 3 : 20)) << lane;
}

TEST(Instruction, lanesThatHaveEndedAreNotWaitedFor) {
  std::vector<uint64_t> results = runWarp("setp.ge.u32 %p0, %r0, 24;\n@%p0 exit;\n"
                                          "vote.ballot.sync.b32 %r1, 1, -1;\ncvt.u64.u32 %x9, %r1;");
  EXPECT_EQ(results[0], 0xffffffu);
  EXPECT_EQ(results[31], 0u);
}

TEST(Instruction, narrowFormatsOfSm100) {
  auto of = [](const std::string &body) { return runWarp(body).front(); };
  // 6.0, and 5.0, which is halfway between two values and becomes 4.0, the even one.
  EXPECT_EQ(of("mov.f32 %r1, 0f40C00000;\nmov.f32 %r2, 0f40A00000;\ncvt.rn.satfinite.e2m1x2.f32 %q0, %r1, %r2;\n"
               "cvt.u64.u8 %x9, %q0;"),
            0x76u);
  EXPECT_EQ(of("mov.f32 %r1, 0fC0F00000;\nmov.f32 %r2, 0f3F800000;\n" // -7.5, 1.0
               "cvt.rn.satfinite.e2m3x2.f32 %h0, %r1, %r2;\ncvt.u64.u16 %x9, %h0;"),
            0x3f08u);
  EXPECT_EQ(of("mov.f32 %r1, 0f41E00000;\nmov.f32 %r2, 0f3F800000;\n" // 28.0, 1.0
               "cvt.rn.satfinite.e3m2x2.f32 %h0, %r1, %r2;\ncvt.u64.u16 %x9, %h0;"),
            0x1f0cu);
  EXPECT_EQ(of("mov.b16 %h0, 0x1f0c;\ncvt.rn.f16x2.e3m2x2 %r1, %h0;\ncvt.u64.u32 %x9, %r1;"), 0x4f003c00u);
  EXPECT_EQ(of("mov.f32 %r1, 0f3FC00000;\nmov.f32 %r2, 0f3F000000;\n" // 1.5, 0.5
               "cvt.rp.satfinite.ue8m0x2.f32 %h0, %r1, %r2;\ncvt.u64.u16 %x9, %h0;"),
            0x807eu);
  EXPECT_EQ(of("mov.b16 %h0, 0x807e;\ncvt.rn.bf16x2.ue8m0x2 %r1, %h0;\ncvt.u64.u32 %x9, %r1;"), 0x40003f00u);
}

TEST(Instruction, pairsOfFloats) {
  std::vector<uint64_t> results = runWarp("mov.b64 %x0, 0x400000003f800000;\n" // 1, 2
                                          "fma.rn.f32x2 %x9, %x0, %x0, %x0;");
  EXPECT_EQ(results[0], 0x40c0000040000000u); // 2, 6
}

std::string loadError(const std::string &instruction) {
  auto module = parsePtx(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<4>;\n"
                         ".reg .b64 %x<4>;\n.reg .pred %p<4>;\n.reg .b16 %h<4>;\n" +
                         instruction + "\nret;\n}\n");
  if (!module)
    return module.error().message;
  runtime::Status status = runPtx(*module, "k", 1, 32, {});
  return status ? "" : status.error().message;
}

TEST(Instruction, negative_unknownVariantsAreErrorsBeforeAnythingRuns) {
  for (const char *instruction : {"add.rn.s32 %r0, %r1, %r2;",
                                  "sub.u16x2 %r0, %r1, %r2;",
                                  "mad.f32 %r0, %r1, %r2, %r3;",
                                  "cvt.rn.sat.bf16.f32 %h0, %r1;",
                                  "add.sat.u32 %r0, %r1, %r2;",
                                  "add.rz.f16 %h0, %h1, %h2;",
                                  "add.ftz.f64 %x0, %x1, %x2;",
                                  "mul.s32 %r0, %r1, %r2;",
                                  "mul.wide.s64 %x0, %x1, %x2;",
                                  "fma.f32 %r0, %r1, %r2, %r3;",
                                  "fma.rn.relu.f32 %r0, %r1, %r2, %r3;",
                                  "div.f32 %r0, %r1, %r2;",
                                  "div.full.f64 %x0, %x1, %x2;",
                                  "min.NaN.f64 %x0, %x1, %x2;",
                                  "min.relu.u32 %r0, %r1, %r2;",
                                  "ex2.approx.ftz.f16 %h0, %h1;",
                                  "sin.f32 %r0, %r1;",
                                  "tanh.approx.ftz.f32 %r0, %r1;",
                                  "cvt.f16.f32 %h0, %r0;",
                                  "cvt.s32.f32 %r0, %r1;",
                                  "cvt.rn.f32.f16 %r0, %h0;",
                                  "cvt.rzi.f16.f32 %h0, %r0;",
                                  "cvt.rn.e4m3x2.f32 %h0, %r0, %r1;",
                                  "cvt.rz.satfinite.e4m3x2.f32 %h0, %r0, %r1;",
                                  "cvt.rn.f32.f32 %r0, %r1;",
                                  "setp.lt.b32 %p0, %r0, %r1;",
                                  "setp.ltu.s32 %p0, %r0, %r1;",
                                  "setp.lo.s32 %p0, %r0, %r1;",
                                  "shfl.up.b32 %r0, %r1, 1, 0;",
                                  "vote.all.pred %p0, %p1;",
                                  "vote.sync.all.sync.pred %p0, %p1, -1;",
                                  "match.any.sync.b32 %r0|%p0, %r1, -1;",
                                  "redux.sync.add.b32 %r0, %r1, -1;",
                                  "shf.l.b32 %r0, %r1, %r2, %r3;",
                                  "prmt.b32.f8e %r0, %r1, %r2, %r3;",
                                  "and.s32 %r0, %r1, %r2;",
                                  "not.b32 %r0, %r1, %r2;"})
    EXPECT_NE(loadError(instruction).find("unsupported"), std::string::npos)
        << instruction << " gives '" << loadError(instruction) << "'";
  EXPECT_NE(loadError("lop3.b32 %r0, %r1, %r2, %r3, 256;").find("from 0 to 255"), std::string::npos);
}

TEST(Instruction, negative_lanesOutsideOfTheirMemberMaskAreReported) {
  EXPECT_NE(loadError("shfl.sync.idx.b32 %r0, %r1, 0, 31, 0xffff;").find("not in its member mask"), std::string::npos);
}

} // namespace
} // namespace tile::sim
