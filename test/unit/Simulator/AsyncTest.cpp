// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers and copies in small kernels: results under several schedules, and the reports for incorrect kernels.
#include "SimulatedKernel.h"

#include <numeric>

using namespace tile::sim;

namespace {

/// Stores %r1 to word %r0 (the thread index) of buffer 0.
const std::string storeResult = "mul.wide.u32 %d8, %r0, 4;\nadd.s64 %d8, %d0, %d8;\nst.global.b32 [%d8], %r1;\n";

/// Expects word i of buffer 0 to be expected(i) under several schedules, without a report.
template <typename Function> void expectWords(SimulatedKernel &kernel, unsigned count, Function &&expected) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto reports = kernel.run(seed);
    ASSERT_TRUE(reports.empty()) << kernel.text(reports);
    const auto *words = reinterpret_cast<const uint32_t *>(kernel.buffers[0].data());
    for (unsigned i = 0; i < count; ++i)
      ASSERT_EQ(words[i], uint32_t(expected(i))) << "word " << i << ", seed " << seed;
  }
}

/// Thread t reads the value that thread 63 - t has written to shared memory; `meet` is executed in between.
std::string exchange(const std::string &meet) {
  return R"(
    mov.u32 %r2, data;
    mad.lo.u32 %r3, %r0, 4, %r2;
    mad.lo.u32 %r1, %r0, 10, 1;
    st.shared.b32 [%r3], %r1;
  )" + meet +
         R"(
    sub.u32 %r4, 63, %r0;
    mad.lo.u32 %r3, %r4, 4, %r2;
    ld.shared.b32 %r1, [%r3];
  )" + storeResult;
}

uint32_t exchanged(unsigned i) {
  return (63 - i) * 10 + 1;
}

TEST(Bar, sync) {
  for (const char *meet : {"bar.sync 0;", "barrier.sync 3;", "barrier.cta.sync.aligned 15, 64;", "bar.cta.sync 1, 64;",
                           "mov.b32 %r5, 7; mov.b32 %r6, 64; bar.sync %r5, %r6;"}) {
    SimulatedKernel kernel(exchange(meet));
    expectWords(kernel, 64, exchanged);
  }
}

TEST(Bar, syncOfDivergedLanes) {
  SimulatedKernel kernel(exchange(R"(
    and.b32 %r5, %r0, 1;
    setp.eq.u32 %p0, %r5, 0;
    @%p0 bra even;
    barrier.sync 2;
    bra met;
  even:
    barrier.sync 2;
  met:
  )"));
  expectWords(kernel, 64, exchanged);
}

TEST(Bar, threadsThatHaveExitedAreNotWaitedFor) {
  SimulatedKernel kernel(exchange(R"(
    setp.ge.u32 %p0, %r0, 64;
    @%p0 ret;
    bar.sync 0;
  )"));
  kernel.threads = 96;
  expectWords(kernel, 64, exchanged);
}

TEST(Bar, partialWarp) {
  SimulatedKernel kernel(R"(
    mov.b32 %r1, 1;
    setp.lt.u32 %p0, %r0, 35;
    bar.red.popc.u32 %r1, 0, %p0;
  )" + storeResult);
  kernel.threads = 40;
  expectWords(kernel, 40, [](unsigned) { return 35; });
}

TEST(Bar, arriveAndSync) {
  // Warp 0 is the producer, and does not wait.
  SimulatedKernel kernel(R"(
    mov.b32 %r1, 7;
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra consumer;
    st.shared.b32 [data], %r1;
    bar.arrive 1, 64;
    bra done;
  consumer:
    bar.sync 1, 64;
    ld.shared.b32 %r1, [data];
    add.u32 %r1, %r1, 1;
  done:
  )" + storeResult);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto reports = kernel.run(seed); // all lanes of warp 0 store to the same word, which is a race
    for (const Report &report : reports)
      EXPECT_EQ(report.kind, ReportKind::Race);
    const auto *words = reinterpret_cast<const uint32_t *>(kernel.buffers[0].data());
    EXPECT_EQ(words[40], 8u);
  }
}

TEST(Bar, reductions) {
  auto reduce = [](const std::string &op, unsigned limit) {
    return "setp.lt.u32 %p0, %r0, " + std::to_string(limit) + ";\nbar.red." + op +
           ".pred %p1, 2, 64, %p0;\nselp.u32 %r1, 1, 0, %p1;\n" + storeResult;
  };
  for (auto [op, limit, expected] : {std::tuple("and", 64u, 1u), {"and", 63u, 0u}, {"or", 1u, 1u}, {"or", 0u, 0u}}) {
    SimulatedKernel kernel(reduce(op, limit));
    expectWords(kernel, 64, [&](unsigned) { return expected; });
  }
  SimulatedKernel twice(R"(
    setp.lt.u32 %p0, %r0, 10;
    barrier.red.popc.aligned.u32 %r2, 0, !%p0;
    setp.lt.u32 %p0, %r0, 3;
    bar.red.popc.u32 %r3, 0, %p0;
    mad.lo.u32 %r1, %r2, 100, %r3;
  )" + storeResult);
  expectWords(twice, 64, [](unsigned) { return 5403; });
}

TEST(Bar, misuse) {
  SimulatedKernel odd("bar.sync 0, 48;");
  odd.expectAlways(ReportKind::BarrierMisuse, "48 threads");
  SimulatedKernel many("bar.sync 0, 96;");
  many.expectAlways(ReportKind::BarrierMisuse, "the CTA has 64");
  SimulatedKernel index("mov.b32 %r1, 16; bar.sync %r1;");
  index.expectAlways(ReportKind::BarrierMisuse, "barrier 16");
  SimulatedKernel counts(R"(
    setp.ge.u32 %p0, %r0, 64;
    @%p0 ret;
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra second;
    bar.sync 1, 96;
    bra done;
  second:
    bar.sync 1, 64;
  done:
  )");
  counts.threads = 96;
  counts.expectAlways(ReportKind::BarrierMisuse, "other threads have arrived for");
  SimulatedKernel twice(R"(
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra second;
    bar.arrive 1, 96;
    bar.arrive 1, 96;
  second:
  )");
  twice.threads = 96;
  twice.expectAlways(ReportKind::BarrierMisuse, "a second time");
  SimulatedKernel diverged("setp.eq.u32 %p0, %r0, 5;\n@%p0 bar.sync 0;");
  diverged.expectAlways(ReportKind::Divergence);
}

TEST(Bar, deadlockSaysWhoIsMissing) {
  SimulatedKernel kernel(R"(
    setp.ge.u32 %p0, %r0, 32;
    @%p0 ret;
    bar.sync 1, 64;
  )");
  for (uint64_t seed = 0; seed < 4; ++seed) {
    auto reports = kernel.run(seed);
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].kind, ReportKind::Deadlock);
    std::string text = kernel.text(reports);
    EXPECT_NE(text.find("barrier 1, phase 0: 32 of 64 threads"), std::string::npos) << text;
    EXPECT_NE(text.find("have ended: 1"), std::string::npos) << text;
  }
}

TEST(WarpBarrier, lanesMeetFromDifferentPlaces) {
  SimulatedKernel kernel(R"(
    mov.u32 %r2, data;
    mad.lo.u32 %r3, %r0, 4, %r2;
    xor.b32 %r4, %r0, 1;
    mad.lo.u32 %r4, %r4, 4, %r2;
    and.b32 %r5, %r0, 1;
    setp.eq.u32 %p0, %r5, 0;
    @%p0 bra even;
    st.shared.b32 [%r3], %r0;
    bar.warp.sync -1;
    ld.shared.b32 %r1, [%r4];
    bra done;
  even:
    mul.lo.u32 %r6, %r0, 100;
    st.shared.b32 [%r3], %r6;
    bar.warp.sync 0xffffffff;
    ld.shared.b32 %r1, [%r4];
  done:
  )" + storeResult);
  expectWords(kernel, 64, [](unsigned i) { return i % 2 ? (i - 1) * 100 : i + 1; });
}

TEST(WarpBarrier, laneOutsideOfItsMask) {
  SimulatedKernel kernel("bar.warp.sync 0xff;");
  kernel.expectAlways(ReportKind::BarrierMisuse, "not in the mask");
}

TEST(ClusterBarrier, exchangeOverDistributedMemory) {
  SimulatedKernel kernel(R"(
    mov.u32 %r2, data;
    mad.lo.u32 %r3, %r0, 4, %r2;
    mov.u32 %r4, %cluster_ctarank;
    mad.lo.u32 %r1, %r4, 1000, %r0;
    st.shared.b32 [%r3], %r1;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    xor.b32 %r5, %r4, 1;
    mapa.shared::cluster.u32 %r6, %r3, %r5;
    ld.shared::cluster.b32 %r1, [%r6];
    getctarank.shared::cluster.u32 %r7, %r6;
    mad.lo.u32 %r1, %r7, 100000, %r1;
    mad.lo.u32 %r0, %r4, 64, %r0;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
  )" + storeResult);
  kernel.ctas = kernel.clusterSize = 2;
  expectWords(kernel, 128, [](unsigned i) { return i < 64 ? 101000 + i : i - 64; });
}

TEST(ClusterBarrier, misuse) {
  SimulatedKernel twice("barrier.cluster.arrive;\nbarrier.cluster.arrive;");
  twice.ctas = twice.clusterSize = 2;
  twice.expectAlways(ReportKind::BarrierMisuse, "second time");
  SimulatedKernel early("barrier.cluster.wait;");
  early.ctas = early.clusterSize = 2;
  early.expectAlways(ReportKind::BarrierMisuse, "without having arrived");
}

/// Warp 0 initializes `bar` for `count` arrivals; `body` follows.
std::string withBarrier(unsigned count, const std::string &body) {
  return R"(
    .shared .align 8 .b64 bar;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra initialised;
    mbarrier.init.shared::cta.b64 [bar], )" +
         std::to_string(count) + R"(;
    fence.mbarrier_init.release.cluster;
  initialised:
    bar.sync 0;
  )" + body;
}

TEST(Mbarrier, arriveAndWaitByState) {
  SimulatedKernel kernel(withBarrier(64, exchange(R"(
    mbarrier.arrive.shared::cta.b64 %d5, [bar];
  wait:
    mbarrier.test_wait.shared::cta.b64 %p1, [bar], %d5;
    @!%p1 bra wait;
  )")));
  expectWords(kernel, 64, exchanged);
}

TEST(Mbarrier, genericAddressAndParities) {
  SimulatedKernel kernel(withBarrier(64, exchange(R"(
    mov.u32 %r10, bar;
    cvt.u64.u32 %d9, %r10;
    cvta.shared.u64 %d9, %d9;
    mbarrier.arrive.b64 _, [%d9];
  first:
    mbarrier.try_wait.parity.b64 %p1, [%d9], 0;
    @!%p1 bra first;
    mbarrier.arrive.release.cta.b64 _, [%d9], 1;
  second:
    mbarrier.try_wait.parity.acquire.cta.b64 %p1, [%d9], 1, 100;
    @!%p1 bra second;
  )")));
  expectWords(kernel, 64, exchanged);
}

TEST(Mbarrier, pendingCount) {
  SimulatedKernel kernel(withBarrier(64, R"(
    mov.b32 %r1, 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra done;
    mbarrier.arrive.noComplete.shared::cta.b64 %d5, [bar], 3;
    mbarrier.pending_count.b64 %r2, %d5;
    mbarrier.arrive_drop.shared::cta.b64 %d5, [bar];
    mbarrier.pending_count.b64 %r3, %d5;
    mad.lo.u32 %r1, %r2, 100, %r3;
  done:
  )" + storeResult));
  expectWords(kernel, 1, [](unsigned) { return 6461; });
}

TEST(Mbarrier, remoteArrivals) {
  // Every thread of both CTAs arrives at the barrier of CTA 0, whose threads wait for them.
  SimulatedKernel kernel(withBarrier(128, R"(
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mov.b32 %r1, 5;
    mov.u32 %r2, bar;
    mapa.shared::cluster.u32 %r3, %r2, 0;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];
    mov.u32 %r4, %cluster_ctarank;
    setp.ne.u32 %p1, %r4, 0;
    @%p1 bra arrived;
  wait:
    mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra wait;
  arrived:
    mad.lo.u32 %r0, %r4, 64, %r0;
  )" + storeResult));
  kernel.ctas = kernel.clusterSize = 2;
  expectWords(kernel, 128, [](unsigned) { return 5; });
}

TEST(Mbarrier, misuse) {
  SimulatedKernel missing(".shared .align 8 .b64 bar;\nmbarrier.arrive.shared::cta.b64 _, [bar];");
  missing.expectAlways(ReportKind::BarrierMisuse, "was not initialised");
  SimulatedKernel invalidated(withBarrier(64, R"(
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra after;
    mbarrier.inval.shared::cta.b64 [bar];
  after:
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 _, [bar];
  )"));
  invalidated.expectAlways(ReportKind::BarrierMisuse, "has been invalidated");
  SimulatedKernel again(withBarrier(64, R"(
    setp.ne.u32 %p0, %r0, 0;
    @!%p0 mbarrier.init.shared::cta.b64 [bar], 1;
  )"));
  again.expectAlways(ReportKind::BarrierMisuse, "a second time");
  SimulatedKernel count("mbarrier.init.shared::cta.b64 [data], 0;");
  count.expectAlways(ReportKind::BarrierMisuse, "0 arrivals");
  SimulatedKernel tooMany(withBarrier(3, R"(
    setp.ne.u32 %p0, %r0, 0;
    @!%p0 mbarrier.arrive.shared::cta.b64 _, [bar], 4;
  )"));
  tooMany.expectAlways(ReportKind::BarrierMisuse, "of whose 3 arrivals 3 are pending");
  SimulatedKernel parity(withBarrier(3, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 2;"));
  parity.expectAlways(ReportKind::InvalidOperand, "parity");
  SimulatedKernel old(withBarrier(1, R"(
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra done;
    mbarrier.arrive.shared::cta.b64 %d5, [bar];
    mbarrier.arrive.shared::cta.b64 _, [bar];
    mbarrier.test_wait.shared::cta.b64 %p1, [bar], %d5;
  done:
  )"));
  old.expectAlways(ReportKind::BarrierMisuse, "a test of phase 0");
  SimulatedKernel misaligned("mbarrier.init.shared::cta.b64 [data+4], 1;");
  misaligned.expectAlways(ReportKind::Misaligned);
}

TEST(Mbarrier, deadlockSaysWhatIsMissing) {
  SimulatedKernel kernel(withBarrier(3, R"(
    setp.ge.u32 %p0, %r0, 32;
    @%p0 bra done;
    setp.ne.u32 %p0, %r0, 0;
    @!%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;
  wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra wait;
  done:
  )"));
  for (uint64_t seed = 0; seed < 4; ++seed) {
    auto reports = kernel.run(seed);
    ASSERT_EQ(reports.size(), 1u);
    EXPECT_EQ(reports[0].kind, ReportKind::Deadlock);
    std::string text = kernel.text(reports);
    EXPECT_NE(text.find("2 of 3 arrivals missing, 4096 bytes missing"), std::string::npos) << text;
  }
}

} // namespace
