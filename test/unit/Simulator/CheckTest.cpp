// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The checker on small kernels: each kind of report, and the corresponding correct kernel, under several schedules.
#include "SimulatedKernel.h"

namespace tile::sim {
namespace {

/// Warp 0 stores and warp 1 loads; both execute `between` in between.
std::string exchange(const std::string &between) {
  return R"(
    mov.u32 %r1, data;
    and.b32 %r2, %r0, 31;
    shl.b32 %r2, %r2, 2;
    add.u32 %r1, %r1, %r2;
    setp.lt.u32 %p0, %r0, 32;
    @%p0 st.shared.b32 [%r1], %r0;
)" + between +
         R"(
    @!%p0 ld.shared.b32 %r3, [%r1];
)";
}

TEST(Check, WarpsExchangeThroughABarrier) {
  SimulatedKernel(exchange("bar.sync 0;")).expectNone();
  SimulatedKernel(exchange("")).expectAlways(ReportKind::Race, "no barrier between the two warps");
}

TEST(Check, ABarrierOfOthersDoesNotOrder) {
  // Warp 1 does not wait: it only arrives.
  SimulatedKernel kernel(exchange("@%p0 bar.sync 1, 64;\n@!%p0 bar.arrive 1, 64;"));
  kernel.expectAlways(ReportKind::Race);
  SimulatedKernel(exchange("@!%p0 bar.sync 1, 64;\n@%p0 bar.arrive 1, 64;")).expectNone();
}

TEST(Check, ReadBeforeTheNextWriteNeedsABarrier) {
  std::string overwrite = "bar.sync 0;\n@!%p0 ld.shared.b32 %r3, [%r1];\n";
  SimulatedKernel(exchange(overwrite + "@%p0 st.shared.b32 [%r1], %r2;\nbar.sync 0;")).expectAlways(ReportKind::Race);
  SimulatedKernel(exchange(overwrite + "bar.sync 0;\n@%p0 st.shared.b32 [%r1], %r2;\nbar.sync 0;")).expectNone();
}

std::string neighbours(const std::string &between) {
  return R"(
    mov.u32 %r1, data;
    shl.b32 %r2, %r0, 2;
    add.u32 %r1, %r1, %r2;
    xor.b32 %r3, %r1, 4;
    st.shared.b32 [%r1], %r0;
)" + between +
         R"(
    ld.shared.b32 %r4, [%r3];
)";
}

TEST(Check, LanesMustMeet) {
  SimulatedKernel with(neighbours("bar.warp.sync -1;")), without(neighbours(""));
  with.expectNone();
  without.expectAlways(ReportKind::Race, "bar.warp.sync");
}

TEST(Check, LanesMeetInParts) {
  // Pairs of lanes of the lower half synchronize at one barrier, those of the upper half at another.
  std::string halves = R"(
    and.b32 %r5, %r0, 16;
    setp.eq.u32 %p1, %r5, 0;
    @%p1 bra LOW;
    bar.warp.sync 0xffff0000;
    bra.uni DONE;
LOW:
    bar.warp.sync 0x0000ffff;
DONE:
)";
  SimulatedKernel(neighbours(halves)).expectNone();
}

TEST(Check, LanesOfOneStore) {
  std::string store = "mov.u32 %r1, data;\nsetp.lt.u32 %p0, %r0, 32;\n@%p0 st.shared.b32 [%r1], ";
  SimulatedKernel(store + "7;").expectNone();
  SimulatedKernel(store + "%r0;").expectAlways(ReportKind::Race, "different values");
  // Eight lanes at each of four addresses.
  std::string places = "mov.u32 %r1, data;\nand.b32 %r2, %r0, 12;\nadd.u32 %r1, %r1, %r2;\nand.b32 %r3, %r0, 28;\n"
                       "setp.lt.u32 %p0, %r0, 32;\n@%p0 st.shared.b32 [%r1], ";
  SimulatedKernel(places + "%r2;").expectNone();
  SimulatedKernel(places + "%r3;").expectAlways(ReportKind::Race, "different values");
}

TEST(Check, PartsOfAWordDoNotConflict) {
  // Warp 0 writes the even bytes and warp 1 the odd ones. Then warp 0 also writes one of the odd bytes.
  std::string bytes = R"(
    shr.u32 %r1, %r0, 5;
    and.b32 %r2, %r0, 31;
    shl.b32 %r2, %r2, 1;
    add.u32 %r2, %r2, %r1;
    mov.u32 %r3, data;
    add.u32 %r2, %r2, %r3;
    mov.b16 %h0, 1;
    st.shared.b8 [%r2], %h0;
)";
  SimulatedKernel(bytes).expectNone();
  SimulatedKernel(bytes + "setp.eq.u32 %p1, %r0, 0;\nmov.b16 %h0, 2;\n@%p1 st.shared.b8 [data+3], %h0;")
      .expectAlways(ReportKind::Race);
}

TEST(Check, WarpsMayWriteTheSameValue) {
  SimulatedKernel("st.shared.b32 [data+16], 5;").expectNone();
  SimulatedKernel("st.shared.b32 [data+16], %r0;").expectAlways(ReportKind::Race);
}

TEST(Check, AWarpMayReadItsOwnReplica) {
  // Both warps write the same value and read it back. The second time, one of them writes another value.
  std::string replica = "mov.u32 %r1, data;\nand.b32 %r2, %r0, 31;\nshl.b32 %r2, %r2, 2;\nadd.u32 %r1, %r1, %r2;\n"
                        "st.shared.b32 [%r1], %r2;\nld.shared.b32 %r3, [%r1];\n";
  SimulatedKernel(replica).expectNone();
  SimulatedKernel(replica + "st.shared.b32 [%r1], %r0;").expectAlways(ReportKind::Race);
  std::string one = "setp.lt.u32 %p0, %r0, 32;\n@!%p0 bra DONE;\nst.shared.b32 [data], 3;\n";
  SimulatedKernel(one + "ld.shared.b32 %r3, [data];\nDONE:\n").expectNone();
}

TEST(Check, AtomicsMayMeetButNotOthers) {
  std::string atomics = "mov.u32 %r1, data;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 st.shared.b32 [data], 0;\nbar.sync 0;\n"
                        "red.shared.add.u32 [data], 1;\n";
  SimulatedKernel(atomics).expectNone();
  SimulatedKernel(atomics + "ld.shared.b32 %r2, [data];").expectAlways(ReportKind::Race, "atomic");
  SimulatedKernel(atomics + "bar.sync 0;\nld.shared.b32 %r2, [data];").expectNone();
}

TEST(Check, UninitializedSharedMemory) {
  SimulatedKernel("ld.shared.b32 %r2, [data+8];").expectAlways(ReportKind::Uninitialized, "shared+8");
  // Two of the four bytes are initialized.
  SimulatedKernel("mov.b16 %h0, 1;\nsetp.eq.u32 %p0, %r0, 0;\n@%p0 st.shared.b16 [data], %h0;\nbar.sync 0;\n"
                  "ld.shared.b32 %r2, [data];")
      .expectAlways(ReportKind::Uninitialized, "shared+2");
}

TEST(Check, UninitializedGlobalMemory) {
  SimulatedKernel kernel("ld.global.b32 %r2, [%d0+12];");
  kernel.expectNone();
  kernel.initialized = false;
  kernel.expectAlways(ReportKind::Uninitialized, "byte 12");
  SimulatedKernel written("mul.wide.u32 %d1, %r0, 4;\nadd.u64 %d0, %d0, %d1;\nst.global.b32 [%d0], 1;\n"
                          "ld.global.b32 %r2, [%d0];");
  written.initialized = false;
  written.expectNone();
}

/// 128 lanes copy 16 bytes each, and execute `wait` before they read the bytes that their neighbour copied.
std::string asyncCopy(const std::string &wait) {
  return R"(
    mul.wide.u32 %d2, %r0, 16;
    add.u64 %d1, %d0, %d2;
    mov.u32 %r1, data;
    shl.b32 %r2, %r0, 4;
    add.u32 %r3, %r1, %r2;
    xor.b32 %r4, %r3, 16;
    cp.async.cg.shared.global [%r3], [%d1], 16;
    cp.async.commit_group;
)" + wait +
         "\nld.shared.b32 %r5, [%r4];\n";
}

TEST(Check, AsyncCopyNeedsWaitAndBarrier) {
  SimulatedKernel(asyncCopy("cp.async.wait_group 0;\nbar.sync 0;")).expectNone();
  SimulatedKernel(asyncCopy("bar.sync 0;")).expectAlways(ReportKind::EarlyUse, "group 0");
  SimulatedKernel(asyncCopy("cp.async.wait_group 1;\nbar.sync 0;"))
      .expectAlways(ReportKind::EarlyUse, "cp.async copies");
}

/// Thread 0 loads 256 bytes with a bulk copy; `wait` is executed before all threads read them.
std::string bulkLoad(const std::string &fence, const std::string &wait, const std::string &afterInit = "bar.sync 0;") {
  return R"(
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [data+1024], 1;
)" + fence +
         afterInit + R"(
    mov.u32 %r1, data;
    add.u32 %r2, %r1, 1024;
    @%p0 mbarrier.arrive.expect_tx.shared.b64 %d3, [data+1024], 256;
    @%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d0], 256, [%r2];
)" + wait +
         R"(
    shl.b32 %r3, %r0, 2;
    add.u32 %r3, %r3, %r1;
    ld.shared.b32 %r4, [%r3];
)";
}
std::string waitLoop(int parity, const char *guard = "") {
  return std::string(guard) + "bra SKIP;\nAGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], " +
         std::to_string(parity) + ";\n@!%p1 bra AGAIN;\nSKIP:\n";
}
std::string plainWait(int parity) {
  return "AGAIN:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], " + std::to_string(parity) +
         ";\n@!%p1 bra AGAIN;\n";
}
const char *initFence = "@%p0 fence.mbarrier_init.release.cluster;\n";

TEST(Check, BulkLoadNeedsItsPhase) {
  SimulatedKernel(bulkLoad(initFence, plainWait(0))).expectNone();
  SimulatedKernel missing(bulkLoad(initFence, ""));
  missing.expectAlways(ReportKind::EarlyUse, "phase 0 of the mbarrier at shared+1024");
  SimulatedKernel(bulkLoad(initFence, plainWait(1))).expectAlways(ReportKind::EarlyUse, "mbarrier at shared+1024");
}

TEST(Check, OneLaneWaitsForItself) {
  // Only lane 0 of each warp waits; the others read without synchronizing with it.
  std::string oneWaits = "and.b32 %r5, %r0, 31;\nsetp.ne.u32 %p2, %r5, 0;\n" + waitLoop(0, "@%p2 ");
  SimulatedKernel(bulkLoad(initFence, oneWaits)).expectAlways(ReportKind::EarlyUse);
  SimulatedKernel(bulkLoad(initFence, oneWaits + "bar.warp.sync -1;\n")).expectNone();
}

TEST(Check, BarrierInitializationIsFencedAndSeen) {
  SimulatedKernel(bulkLoad("", plainWait(0))).expectAlways(ReportKind::MissingFence, "fence.mbarrier_init");
  SimulatedKernel(bulkLoad("@%p0 fence.proxy.async;\n", plainWait(0))).expectNone();
  // Threads that do not synchronize with the initialization wait.
  SimulatedKernel kernel(bulkLoad(initFence, plainWait(0), ""));
  bool found = false;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    auto reports = kernel.run(seed);
    EXPECT_FALSE(reports.empty());
    for (const Report &report : reports)
      found |= report.kind == ReportKind::Race;
  }
  EXPECT_TRUE(found);
}

TEST(Check, BarrierObjectsAreNotData) {
  SimulatedKernel(bulkLoad(initFence, plainWait(0)) + "ld.shared.b32 %r6, [data+1028];")
      .expectAlways(ReportKind::BarrierMisuse, "mbarrier object");
}

/// All threads write 256 bytes, thread 0 stores them with a bulk copy, then `end`.
std::string bulkStore(const std::string &before, const std::string &end) {
  return R"(
    mov.u32 %r1, data;
    shl.b32 %r2, %r0, 2;
    add.u32 %r3, %r1, %r2;
    setp.eq.u32 %p0, %r0, 0;
    st.shared.b32 [%r3], %r0;
)" + before +
         R"(
    @%p0 cp.async.bulk.global.shared::cta.bulk_group [%d0], [%r1], 256;
    @%p0 cp.async.bulk.commit_group;
)" + end;
}

TEST(Check, BulkStoreNeedsProxyFence) {
  SimulatedKernel(bulkStore("fence.proxy.async.shared::cta;\nbar.sync 0;", "cp.async.bulk.wait_group.read 0;"))
      .expectNone();
  SimulatedKernel(bulkStore("bar.sync 0;", "cp.async.bulk.wait_group.read 0;"))
      .expectAlways(ReportKind::MissingFence, "fence.proxy.async is missing");
  // A fence by the thread that issues the copy has the same effect, because it lies between the writes and the copy.
  SimulatedKernel(bulkStore("bar.sync 0;\nfence.proxy.async.shared::cta;", "cp.async.bulk.wait_group.read 0;"))
      .expectNone();
  SimulatedKernel(bulkStore("fence.proxy.async.shared::cta;", "cp.async.bulk.wait_group.read 0;"))
      .expectAlways(ReportKind::Race);
}

TEST(Check, BulkStoreSourceIsReadBeforeItIsReused) {
  std::string fenced = "fence.proxy.async.shared::cta;\nbar.sync 0;";
  std::string reuse = "st.shared.b32 [%r3], 5;\n", wait = "cp.async.bulk.wait_group.read 0;\n";
  SimulatedKernel(bulkStore(fenced, wait + "bar.sync 0;\n" + reuse)).expectNone();
  SimulatedKernel(bulkStore(fenced, "bar.sync 0;\n" + reuse + wait)).expectAlways(ReportKind::EarlyUse, "still reads");
  SimulatedKernel(bulkStore(fenced, wait + reuse)).expectAlways(ReportKind::EarlyUse, "reads of bulk copies");
}

TEST(Check, BulkStoreEndsBeforeTheCta) {
  SimulatedKernel(bulkStore("fence.proxy.async.shared::cta;\nbar.sync 0;", "")).expectAlways(ReportKind::EarlyExit);
}

TEST(Check, PeersWaitForEachOther) {
  auto read = [](const std::string &first, const std::string &last) {
    SimulatedKernel kernel(R"(
      mov.u32 %r1, data;
      shl.b32 %r2, %r0, 2;
      add.u32 %r1, %r1, %r2;
      st.shared.b32 [%r1], %r0;
      mov.u32 %r3, %cluster_ctarank;
      xor.b32 %r3, %r3, 1;
      mapa.shared::cluster.u32 %r4, %r1, %r3;
    )" + first + "ld.shared::cluster.b32 %r5, [%r4];\n" +
                           last);
    kernel.ctas = kernel.clusterSize = 2;
    return kernel;
  };
  std::string barrier = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  read(barrier, barrier).expectNone();
  read("", barrier).expectAlways(ReportKind::Race, "nothing orders the two CTAs");
  read(barrier, "").expectAlways(ReportKind::EarlyExit);
}

/// CTA 0 writes x[1] and sets the flag x[0]; CTA 1 waits for the flag and reads x[1].
SimulatedKernel message(const std::string &set, const std::string &get) {
  SimulatedKernel kernel(R"(
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p0, %r1, 0;
    @%p0 bra READER;
    st.global.b32 [%d0+4], 42;
)" + set + R"(
    bra.uni DONE;
READER:
)" + get + R"(
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra READER;
    ld.global.b32 %r3, [%d0+4];
DONE:
)");
  kernel.threads = 1;
  kernel.ctas = 2;
  return kernel;
}

TEST(Check, MessagesThroughGlobalMemory) {
  std::string release = "st.release.gpu.global.b32 [%d0], 1;", acquire = "ld.acquire.gpu.global.b32 %r2, [%d0];";
  std::string relaxed = "st.relaxed.gpu.global.b32 [%d0], 1;", load = "ld.relaxed.gpu.global.b32 %r2, [%d0];";
  std::string fence = "fence.acq_rel.gpu;\n";
  auto run = [](SimulatedKernel kernel) { kernel.expectNone(); };
  auto races = [](SimulatedKernel kernel) { kernel.expectAlways(ReportKind::Race, "nothing orders the two CTAs"); };
  run(message(release, acquire));
  races(message(relaxed, acquire));
  races(message(release, load));
  run(message(fence + relaxed, acquire));
  run(message(fence + relaxed, load + "\n" + fence));
  run(message("membar.gl;\nred.global.add.u32 [%d0], 1;", acquire));
  run(message("red.release.gpu.global.add.u32 [%d0], 1;", acquire));
  run(message("membar.gl;\nst.volatile.global.b32 [%d0], 1;", "ld.volatile.global.b32 %r2, [%d0];\nmembar.gl;"));
  races(message("st.release.cta.global.b32 [%d0], 1;", acquire));
  races(message("fence.acq_rel.cta;\n" + relaxed, acquire));
}

TEST(Check, AFlagThatIsNotAtomicRaces) {
  message("st.global.b32 [%d0], 1;", "ld.acquire.gpu.global.b32 %r2, [%d0];")
      .expectAlways(ReportKind::Race, "only one of them is atomic");
}

TEST(Check, ThreadBlocksThatWriteTheSameByte) {
  // Each warp writes 4 separate bytes, and all warps write the last ones.
  SimulatedKernel kernel(R"(
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %d1, %r1, 4;
    add.u64 %d1, %d1, %d0;
    st.global.b32 [%d1], %r1;
    st.global.b32 [%d0+1024], %r1;
)");
  kernel.threads = 1;
  kernel.ctas = 8;
  kernel.expectAlways(ReportKind::Race, "byte 1024");
  std::string expected = kernel.text(kernel.run(0));
  EXPECT_NE(expected.find("CTA (1,0,0)"), std::string::npos) << expected;
  kernel.hostThreads = 4;
  for (uint64_t seed = 0; seed < 20; ++seed)
    EXPECT_EQ(kernel.text(kernel.run(seed)), expected);
}

/// Warp 1 waits on an mbarrier of one arrival until warp 0 has read, then overwrites.
std::string consumer(const std::string &beforeArrival) {
  return R"(
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared.b64 [data+1024], 1;
    mov.u32 %r1, data;
    add.u32 %r2, %r1, 1024;
    and.b32 %r3, %r0, 31;
    shl.b32 %r3, %r3, 2;
    add.u32 %r3, %r3, %r1;
    setp.lt.u32 %p2, %r0, 32;
    @%p2 st.shared.b32 [%r3], 1;
    bar.sync 0;
    @!%p2 bra PRODUCER;
    ld.shared.b32 %r4, [%r3];
)" + beforeArrival +
         R"(
    @%p0 mbarrier.arrive.shared.b64 %d3, [data+1024];
    bra.uni DONE;
PRODUCER:
)" + plainWait(0) +
         R"(
    st.shared.b32 [%r3], 2;
DONE:
)";
}

TEST(Check, OneLaneArrivesForItsWarp) {
  SimulatedKernel(consumer("bar.warp.sync -1;")).expectNone();
  SimulatedKernel(consumer("")).expectAlways(ReportKind::Race, "no barrier between the two warps");
}

TEST(Check, ReportsSayWhere) {
  SimulatedKernel kernel(exchange(""));
  std::string text = kernel.text(kernel.run(1));
  EXPECT_NE(text.find("race: "), std::string::npos) << text;
  EXPECT_NE(text.find("at k.ptx:"), std::string::npos) << text;
  EXPECT_NE(text.find("in CTA (0,0,0) warp "), std::string::npos) << text;
  EXPECT_NE(text.find("st.shared.b32"), std::string::npos) << text;
}

} // namespace
} // namespace tile::sim
