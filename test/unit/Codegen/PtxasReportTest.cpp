// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Output of ptxas, as printed (CUDA 13.0), and the values that are parsed from it.
#include "Codegen/RunPtxas.h"

#include <gtest/gtest.h>

using namespace tile::codegen;

TEST(PtxasReport, readsResourcesOfEveryKernel) {
  PtxasReport report = parsePtxasOutput(R"(ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'first' for 'sm_90a'
ptxas info    : Function properties for first
    16 bytes stack frame, 404 bytes spill stores, 408 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, 1024 bytes smem
ptxas info    : Compile time = 60.214 ms
ptxas info    : Compiling entry function 'second' for 'sm_90a'
ptxas info    : Function properties for second
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
)");
  ASSERT_EQ(report.kernels.size(), 2u);
  const KernelResources *first = report.find("first");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->registers, 255u);
  EXPECT_EQ(first->stackFrame, 16u);
  EXPECT_EQ(first->spillStores, 404u);
  EXPECT_EQ(first->spillLoads, 408u);
  EXPECT_EQ(first->staticShared, 1024u);
  EXPECT_EQ(report.find("second")->registers, 12u);
  EXPECT_EQ(report.find("third"), nullptr);
  EXPECT_TRUE(report.warnings.empty());
  EXPECT_TRUE(report.errors.empty());
}

TEST(PtxasReport, notesOnPerformanceAreWarnings) {
  PtxasReport report = parsePtxasOutput(
      "ptxas info    : (C7513) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
      "ptxas warning : Value of threads per SM is out of range\n");
  ASSERT_EQ(report.warnings.size(), 2u);
  EXPECT_TRUE(report.warnings[0].starts_with("(C7513)"));
}

TEST(PtxasReport, errorsKeepTheirLines) {
  PtxasReport report = parsePtxasOutput("ptxas /tmp/a.ptx, line 12; error   : Unknown symbol 'x'\n"
                                        "ptxas fatal   : Ptx assembly aborted due to errors\n");
  ASSERT_EQ(report.errors.size(), 2u);
  EXPECT_EQ(report.errors[0].message, "Unknown symbol 'x'");
  EXPECT_EQ(report.errors[0].line, 12u);
  EXPECT_EQ(report.errors[1].line, 0u);
}

TEST(PtxasReport, linesComeFromTheSource) {
  const char *ptx = "// header\n"
                    "\t.loc\t1 3 9\n"
                    "\tmov.u32 \t%r2, %tid.x;\n"
                    "\t.loc\t2 15 19, function_name $L__info, inlined_at 1 3 9\n"
                    "garbage %r1, %r2;\n"
                    "\t.loc\t1 6 14\n"
                    "\t.file\t1 \"a/k.tile\"\n"
                    "\t.file\t2 \"b c/helper.tile\"\n";
  EXPECT_EQ(findSource(ptx, 1), "");
  EXPECT_EQ(findSource(ptx, 3), "a/k.tile:3:9");
  EXPECT_EQ(findSource(ptx, 5), "b c/helper.tile:15:19");
}

TEST(PtxasReport, emptyOutputIsAnEmptyReport) {
  EXPECT_TRUE(parsePtxasOutput("").kernels.empty());
}
