// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that read memory repeatedly. Those that wait for a value that is never written are reported, whatever their
// loop looks like; those that count, sum, or wait for a slow thread are not.
#include "SimulatedKernel.h"

using namespace tile::sim;

namespace {

TEST(Poll, lockThatNobodyReleases) {
  SimulatedKernel kernel("mov.b32 %r2, 1;\nst.global.b32 [%d0], %r2;\n"
                         "spin:\natom.global.cas.b32 %r1, [%d0], 0, 1;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra spin;\n");
  kernel.threads = 1;
  kernel.expectAlways(ReportKind::Deadlock);
}

TEST(Poll, flagThatNobodySets) {
  SimulatedKernel kernel("spin:\nld.acquire.gpu.global.b32 %r1, [%d0];\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra spin;\n");
  kernel.threads = 256;
  auto reports = kernel.run(0);
  ASSERT_EQ(reports.size(), 1u) << kernel.text(reports);
  EXPECT_EQ(reports[0].kind, ReportKind::Deadlock);
  ASSERT_EQ(reports[0].notes.size(), 8u);
  EXPECT_EQ(reports[0].notes[0].second, "repeatedly reads memory that no thread changes");
}

TEST(Poll, flagsReadInTurn) {
  // The address changes with each read, and repeats after some time.
  SimulatedKernel(R"(
    mov.b32 %r2, 0;
  spin:
    and.b32 %r3, %r2, 28;
    cvt.u64.u32 %d8, %r3;
    add.s64 %d8, %d0, %d8;
    ld.acquire.gpu.global.b32 %r1, [%d8];
    add.u32 %r2, %r3, 4;
    setp.eq.u32 %p0, %r1, 0;
    @%p0 bra spin;
  )")
      .expectAlways(ReportKind::Deadlock, "no thread can proceed");
}

TEST(Poll, lanesThatWaitInDifferentLoops) {
  SimulatedKernel(R"(
    setp.lt.u32 %p1, %r0, 16;
    @%p1 bra low;
  high:
    ld.volatile.global.b32 %r1, [%d0];
    setp.eq.u32 %p0, %r1, 0;
    @%p0 bra high;
    bra done;
  low:
    ld.volatile.shared.b32 %r1, [data];
    add.u32 %r2, %r1, 1;
    setp.eq.u32 %p0, %r2, 1;
    @%p0 bra low;
  done:
  )")
      .expectAlways(ReportKind::Deadlock, "no thread can proceed");
}

/// Sums %r4 over `loads` reads by `load`, then stores the sum as word %r0.
std::string sumOf(const std::string &load, unsigned loads) {
  return "mov.b32 %r1, 0;\nmov.b32 %r2, 0;\nloop:\n" + load +
         "\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, " + std::to_string(loads) +
         ";\n@%p0 bra loop;\nmul.wide.u32 %d8, %r0, 4;\nadd.s64 %d8, %d1, %d8;\nst.global.b32 [%d8], %r1;\n";
}

void expectSum(const std::string &load, uint32_t threads, unsigned loads, uint32_t ctas = 1) {
  SimulatedKernel kernel(sumOf(load, loads), 2);
  kernel.threads = threads;
  kernel.ctas = ctas;
  kernel.input.resize(4, std::byte(1));
  const auto reports = kernel.run(0);
  EXPECT_TRUE(reports.empty()) << load << "\n" << kernel.text(reports);
  EXPECT_EQ(reinterpret_cast<const uint32_t *>(kernel.buffers[1].data())[threads - 1], loads * 0x01010101u) << load;
}

TEST(Poll, loopsThatSumAreNoWaits) {
  expectSum("ld.volatile.global.b32 %r4, [%d0];", 128, 3000);
  expectSum("atom.global.or.b32 %r4, [%d0], 0;", 64, 2000);
  expectSum("atom.global.min.u32 %r4, [%d0], 0xffffffff;", 64, 1000, /*ctas=*/4);
  expectSum("st.volatile.shared.b32 [data], 0x01010101;\nld.volatile.shared.b32 %r4, [data];", 1, 3000);
}

TEST(Poll, readsOfChangingAddressesAreNoWaits) {
  SimulatedKernel kernel("mov.b32 %r1, 0;\nloop:\nand.b32 %r2, %r1, 63;\nmul.wide.u32 %d8, %r2, 4;\n"
                         "add.s64 %d8, %d0, %d8;\nld.volatile.global.b32 %r3, [%d8];\nadd.s32 %r1, %r1, 1;\n"
                         "setp.lt.u32 %p0, %r1, 60000;\n@%p0 bra loop;\n");
  kernel.threads = 256;
  const auto reports = kernel.run(0);
  EXPECT_TRUE(reports.empty()) << kernel.text(reports);
}

TEST(Poll, waitForAThreadThatComputesForLong) {
  // Warp 1 changes nothing in memory for 300,000 instructions, then sets the flag for which the others wait.
  SimulatedKernel kernel(R"(
    setp.eq.u32 %p1, %r0, 32;
    @%p1 bra compute;
  spin:
    ld.acquire.gpu.global.b32 %r1, [%d0];
    setp.eq.u32 %p0, %r1, 0;
    @%p0 bra spin;
    bra done;
  compute:
    mov.b32 %r2, 0;
  loop:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p0, %r2, 100000;
    @%p0 bra loop;
    st.release.gpu.global.b32 [%d0], %r2;
  done:
  )");
  kernel.threads = 128;
  for (uint64_t seed = 0; seed < 3; ++seed) {
    const auto reports = kernel.run(seed);
    EXPECT_TRUE(reports.empty()) << kernel.text(reports);
  }
}

TEST(Poll, otherLanesWaitForTheOneThatPolls) {
  // Lane 0 of CTA 0 waits for CTA 1. The other lanes wait at the reconvergence point, although nothing else runs in
  // their CTA.
  SimulatedKernel kernel(R"(
    mov.u32 %r5, %ctaid.x;
    setp.ne.u32 %p1, %r5, 0;
    @%p1 bra compute;
    setp.ne.u32 %p2, %r0, 0;
    @%p2 bra meet;
  spin:
    ld.acquire.gpu.global.b32 %r1, [%d0];
    setp.eq.u32 %p0, %r1, 0;
    @%p0 bra spin;
  meet:
    activemask.b32 %r2;
    mul.wide.u32 %d8, %r0, 4;
    add.s64 %d8, %d1, %d8;
    st.global.b32 [%d8], %r2;
    bra done;
  compute:
    mov.b32 %r2, 0;
  loop:
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p0, %r2, 500;
    @%p0 bra loop;
    st.release.gpu.global.b32 [%d0], %r2;
  done:
  )",
                         2);
  kernel.threads = 32;
  kernel.ctas = 2;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto reports = kernel.run(seed);
    ASSERT_TRUE(reports.empty()) << kernel.text(reports);
    for (unsigned lane = 0; lane < 32; ++lane)
      ASSERT_EQ(reinterpret_cast<const uint32_t *>(kernel.buffers[1].data())[lane], ~0u) << "seed " << seed;
  }
}

/// All CTAs add 1 to word 0 and wait until the count equals the number of CTAs. The waiting thread informs the others
/// through shared memory, as code of compilers does.
const std::string gridBarrier = R"(
    setp.ne.u32 %p0, %r0, 0;
    mov.u32 %r3, %nctaid.x;
    @%p0 bra wait;
    atom.release.gpu.global.add.u32 %r1, [%d0], 1;
  wait:
    @%p0 bra share;
    atom.acquire.gpu.global.add.u32 %r1, [%d0], 0;
    st.shared.b32 [data], %r1;
  share:
    bar.sync 0;
    ld.shared.b32 %r2, [data];
    bar.sync 0;
    setp.lt.u32 %p1, %r2, %r3;
    @%p1 bra wait;
)";

TEST(Poll, gridBarrierAmongMoreThanRunAtOnce) {
  SimulatedKernel fits(gridBarrier);
  fits.ctas = 4;
  fits.expectNone();
  fits.ctas = 8;
  auto reports = fits.run(0);
  ASSERT_EQ(reports.size(), 1u) << fits.text(reports);
  EXPECT_EQ(reports[0].kind, ReportKind::Deadlock);
  EXPECT_EQ(reports[0].message,
            "all thread blocks that run wait for a change of global memory, which none of them makes; programs 4 to 7 "
            "have not started, because 4 run at the same time: --sms=8 lets all run");
  fits.ctas = 5;
  reports = fits.run(1);
  ASSERT_EQ(reports.size(), 1u) << fits.text(reports);
  EXPECT_NE(reports[0].message.find("of the programs, 4 has not started"), std::string::npos) << reports[0].message;
}

} // namespace
