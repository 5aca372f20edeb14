// Every variant of every arithmetic instruction against what an H200 computed for the same inputs: bit by bit, the
// approximate functions within their bounds.
#include "InstructionRun.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace tile::sim {
namespace {

/// Results of one case from the bytes recorded for it.
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
