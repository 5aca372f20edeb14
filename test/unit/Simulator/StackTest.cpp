// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// alloca, stacksave and stackrestore, and moves of vectors of special registers.
#include "RunPtx.h"

#include <gtest/gtest.h>

namespace tile::sim {
namespace {

/// Returns the error of the body, or writes the 64-bit %x9 of each of 32 threads to `results`; %r0 is %tid.x.
std::string runBody(const std::string &body, std::vector<uint64_t> &results) {
  results.assign(32, 0);
  auto module = parsePtx(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 pd)\n{\n"
                         ".reg .b32 %r<9>;\n.reg .b64 %x<10>;\n.local .align 4 .b8 own[12];\n"
                         "mov.u32 %r0, %tid.x;\nmov.b64 %x9, 0;\n" +
                         body +
                         "\nld.param.u64 %x8, [pd];\nmul.wide.u32 %x7, %r0, 8;\nadd.s64 %x8, %x8, %x7;\n"
                         "st.global.b64 [%x8], %x9;\nret;\n}\n");
  if (!module)
    return module.error().message;
  runtime::Status status = runPtx(*module, "k", 1, 32, {std::span(results)});
  return status ? "" : status.error().message;
}

std::string errorOf(const std::string &body) {
  std::vector<uint64_t> results;
  return runBody(body, results);
}

TEST(Stack, threadsAllocateDifferentSizes) {
  std::vector<uint64_t> results;
  EXPECT_EQ(runBody("mul.wide.u32 %x1, %r0, 4;\nadd.u64 %x1, %x1, 4;\nalloca.u64 %x2, %x1;\nalloca.u64 %x3, 4, 64;\n"
                    "st.local.b32 [own], 7;\nst.local.b32 [%x2], %r0;\nadd.u32 %r1, %r0, 100;\n"
                    "cvta.local.u64 %x4, %x3;\nst.b32 [%x4], %r1;\n"
                    "ld.local.b32 %r2, [%x2];\nld.local.b32 %r3, [%x3];\nmov.b64 %x9, {%r2, %r3};",
                    results),
            "");
  for (uint64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(results[lane], (lane + 100) << 32 | lane);
}

TEST(Stack, restoredMemoryIsAllocatedAgain) {
  std::vector<uint64_t> results;
  EXPECT_EQ(runBody("stacksave.u32 %r1;\nalloca.u32 %r2, 1000;\nstackrestore.u32 %r1;\nalloca.u32 %r3, 8, 8;\n"
                    "sub.u32 %r3, %r3, %r2;\nstacksave.u64 %x1;\nalloca.u64 %x2, 24;\nsub.u64 %x9, %x2, %x1;\n"
                    "cvt.u64.u32 %x3, %r3;\nadd.u64 %x9, %x9, %x3;\nstackrestore.u64 %x1;",
                    results),
            "");
  EXPECT_EQ(results[31], 0u);
}

TEST(Stack, negative_sizesAndAlignments) {
  EXPECT_EQ(errorOf("alloca.u64 %x1, 16384;"), "");
  EXPECT_NE(errorOf("alloca.u64 %x1, 4;\nalloca.u64 %x1, 16377;")
                .find("alloca of 16377 bytes; the thread's stack of 16384 bytes has 16376 left"),
            std::string::npos);
  EXPECT_NE(errorOf("mov.b64 %x1, -1;\nalloca.u64 %x2, %x1;").find("alloca of 18446744073709551615 bytes"),
            std::string::npos);
  EXPECT_NE(errorOf("alloca.u64 %x1, 16, 12;").find("the alignment 12 is not a power of two"), std::string::npos);
  EXPECT_NE(errorOf("mov.b64 %x1, 99999;\nstackrestore.u64 %x1;").find("stackrestore to offset 99999"),
            std::string::npos);
  for (const char *instruction : {"alloca.b64 %x1, 16;", "alloca.u64 %x1;", "alloca.u64 %x1, 16, %x2;",
                                  "stacksave.s32 %r1;", "stackrestore.u32 %r1, %r2;"})
    EXPECT_NE(errorOf(instruction).find("unsupported instruction"), std::string::npos) << instruction;
}

TEST(VectorMove, specialRegisters) {
  std::vector<uint64_t> results;
  EXPECT_EQ(runBody("mov.v4.u32 {%r1, %r2, %r3, %r4}, %ntid;\nmov.v4.b32 {%r5, _, _, %r6}, %tid;\n"
                    "mad.lo.u32 %r1, %r1, 100, %r2;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r5, %r5, %r6;\n"
                    "mov.b64 %x9, {%r1, %r5};",
                    results),
            "");
  for (uint64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(results[lane], lane << 32 | 3201);
  EXPECT_EQ(runBody("mov.v4.u32 {%r1, %r2, %r3, %r4}, {1, 2, 3, 4};\n"
                    "mov.v4.u32 {%r1, %r2, %r3, %r4}, {%r4, %r1, %r2, %r0};\nmad.lo.u32 %r1, %r1, 10, %r2;\n"
                    "mad.lo.u32 %r1, %r1, 10, %r3;\nmov.b64 %x9, {%r1, %r4};",
                    results),
            "");
  EXPECT_EQ(results[5], uint64_t(5) << 32 | 412);
  for (const char *instruction : {"mov.u32 %r1, %tid;", "mov.v4.u16 {%r1, %r2, %r3, %r4}, %tid;",
                                  "mov.v4.u32 {%r1, %r2}, %tid;", "mov.v4.u32 {%r1, %r2, %r3, %r4}, %r5;"})
    EXPECT_NE(errorOf(instruction).find("unsupported instruction"), std::string::npos) << instruction;
}

} // namespace
} // namespace tile::sim
