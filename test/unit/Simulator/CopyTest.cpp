// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies in small kernels: cp.async, bulk copies, multicast, st.async; and those that lack a wait, a fence
// or the expectation of their bytes.
#include "SimulatedKernel.h"

#include <numeric>

using namespace tile::sim;

namespace {

/// Stores %r1 to word %r0 of buffer 0.
const std::string storeResult = "mul.wide.u32 %d8, %r0, 4;\nadd.s64 %d8, %d0, %d8;\nst.global.b32 [%d8], %r1;\n";

/// Words of buffer 1 are 1000, 1001, …; expects word i of buffer 0 to become expected(i) under several schedules.
template <typename Function> void expectWords(SimulatedKernel &kernel, unsigned count, Function &&expected) {
  kernel.clearsBuffers = false;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    auto *input = reinterpret_cast<uint32_t *>(kernel.buffers[1].data());
    std::iota(input, input + SimulatedKernel::bufferBytes / 4, 1000);
    auto reports = kernel.run(seed);
    ASSERT_TRUE(reports.empty()) << kernel.text(reports);
    const auto *words = reinterpret_cast<const uint32_t *>(kernel.buffers[0].data());
    for (unsigned i = 0; i < count; ++i)
      ASSERT_EQ(words[i], uint32_t(expected(i))) << "word " << i << ", seed " << seed;
  }
}

/// Each thread copies 16 bytes to data[16 t], and after `wait` reads the word (t + 4) % 256.
std::string laneCopy(const std::string &instruction, const std::string &wait) {
  return R"(
    mul.lo.u32 %r2, %r0, 16;
    cvt.u64.u32 %d5, %r2;
    add.s64 %d5, %d1, %d5;
    mov.u32 %r3, data;
    add.u32 %r4, %r3, %r2;
  )" + instruction +
         wait + R"(
    add.u32 %r5, %r0, 4;
    mad.lo.u32 %r5, %r5, 4, %r3;
    ld.shared.b32 %r1, [%r5];
  )" + storeResult;
}

const std::string copy16 = "cp.async.cg.shared.global [%r4], [%d5], 16;\n";
const std::string commitAndWait = "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n";

TEST(LaneCopy, waits) {
  for (const std::string &wait : {commitAndWait, std::string("cp.async.wait_all;\nbar.sync 0;\n")}) {
    SimulatedKernel kernel(laneCopy(copy16, wait), 2);
    expectWords(kernel, 64, [](unsigned i) { return 1004 + i; });
  }
}

TEST(LaneCopy, forms) {
  for (const char *copy : {"cp.async.ca.shared::cta.global.L2::128B [%r4], [%d5], 8;\n"
                           "cp.async.ca.shared.global [%r4+8], [%d5+8], 4;\n"
                           "cp.async.ca.shared.global.L2::64B [%r4+12], [%d5+12], 4;\n",
                           "createpolicy.fractional.L2::evict_last.b64 %d6, 1.0;\n"
                           "cp.async.cg.shared.global.L2::cache_hint [%r4], [%d5], 16, %d6;\n"}) {
    SimulatedKernel kernel(laneCopy(copy, commitAndWait), 2);
    expectWords(kernel, 64, [](unsigned i) { return 1004 + i; });
  }
}

TEST(LaneCopy, zeroFill) {
  SimulatedKernel size(laneCopy("mov.b32 %r6, 4;\ncp.async.cg.shared.global [%r4], [%d5], 16, %r6;\n", commitAndWait),
                       2);
  expectWords(size, 64, [](unsigned i) { return i % 4 ? 0 : 1004 + i; });
  SimulatedKernel ignored(
      laneCopy("setp.lt.u32 %p2, %r0, 5;\ncp.async.cg.shared.global [%r4], [%d5], 16, %p2;\n", commitAndWait), 2);
  expectWords(ignored, 64, [](unsigned i) { return i < 16 ? 0 : 1004 + i; });
  SimulatedKernel tooMany(laneCopy("cp.async.cg.shared.global [%r4], [%d5], 16, 17;\n", commitAndWait), 2);
  tooMany.expectAlways(ReportKind::InvalidOperand, "17 bytes");
}

TEST(LaneCopy, missingWait) {
  SimulatedKernel kernel(laneCopy(copy16, "cp.async.commit_group;\nbar.sync 0;\n"), 2);
  kernel.expectAlways(ReportKind::EarlyUse);
  SimulatedKernel tooLate(laneCopy(copy16, "cp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\n"), 2);
  tooLate.expectAlways(ReportKind::EarlyUse);
}

std::string withBarrier(unsigned count, const std::string &body, const std::string &fence = "") {
  return R"(
    .shared .align 8 .b64 bar;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra initialised;
    mbarrier.init.shared::cta.b64 [bar], )" +
         std::to_string(count) + ";\n" + (fence.empty() ? "fence.mbarrier_init.release.cluster;" : fence) + R"(
  initialised:
    bar.sync 0;
  )" + body;
}

const std::string waitForBar = R"(
  wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra wait;
)";

TEST(LaneCopy, arrivalAtAnMbarrier) {
  SimulatedKernel noinc(
      withBarrier(64, laneCopy(copy16, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];\n" + waitForBar)), 2);
  expectWords(noinc, 64, [](unsigned i) { return 1004 + i; });
  SimulatedKernel inc(withBarrier(64, laneCopy(copy16, "cp.async.mbarrier.arrive.shared.b64 [bar];\n"
                                                       "mbarrier.arrive.shared::cta.b64 _, [bar];\n" +
                                                           waitForBar)),
                      2);
  expectWords(inc, 64, [](unsigned i) { return 1004 + i; });
}

/// Thread 0 loads 2048 bytes; thread t reads word 8 t.
std::string bulkLoad(const std::string &issue, const std::string &wait = waitForBar) {
  return "@%p0 bra wait0;\n" + issue + "wait0:\n" + wait + R"(
    mov.u32 %r3, data;
    mad.lo.u32 %r5, %r0, 32, %r3;
    ld.shared.b32 %r1, [%r5];
  )" + storeResult;
}

const std::string load2048 = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%d1], 2048, "
                             "[bar];\n";
const std::string expect2048 = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 2048;\n";

TEST(BulkCopy, loads) {
  for (const std::string &issue :
       {expect2048 + load2048,
        "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 2048;\n" + load2048 +
            "mbarrier.arrive.shared::cta.b64 _, [bar];\n",
        load2048 + expect2048,
        expect2048 + "mov.b64 %d6, 0;\ncp.async.bulk.prefetch.L2.global [%d1], 2048;\n"
                     "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [data], [%d1], "
                     "2048, [bar], %d6;\n"}) {
    SimulatedKernel kernel(withBarrier(1, bulkLoad(issue)), 2);
    expectWords(kernel, 64, [](unsigned i) { return 1000 + 8 * i; });
  }
}

TEST(BulkCopy, bytesNotExpected) {
  SimulatedKernel none(withBarrier(1, bulkLoad("mbarrier.arrive.shared::cta.b64 _, [bar];\n" + load2048)), 2);
  SimulatedKernel fewer(
      withBarrier(1, bulkLoad("mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1024;\n" + load2048)), 2);
  SimulatedKernel more(
      withBarrier(1, bulkLoad("mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4096;\n" + load2048)), 2);
  for (uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_FALSE(none.run(seed).empty()) << seed;
    EXPECT_FALSE(fewer.run(seed).empty()) << seed;
  }
  more.expectAlways(ReportKind::Deadlock);
}

TEST(BulkCopy, missingWaitAndFence) {
  SimulatedKernel wait(withBarrier(1, bulkLoad(expect2048 + load2048, "bar.sync 0;\n")), 2);
  wait.expectAlways(ReportKind::EarlyUse);
  SimulatedKernel wrongParity(withBarrier(1, bulkLoad(expect2048 + load2048, R"(
  wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 1;
    @!%p1 bra wait;
  )")),
                              2);
  for (uint64_t seed = 0; seed < 8; ++seed)
    EXPECT_FALSE(wrongParity.run(seed).empty()) << seed;
  SimulatedKernel fence(withBarrier(1, bulkLoad(expect2048 + load2048), "nop;\n"), 2);
  fence.expectAlways(ReportKind::MissingFence);
  SimulatedKernel proxy(withBarrier(1, bulkLoad(expect2048 + load2048), "fence.proxy.async;\n"), 2);
  proxy.expectNone();
}

TEST(BulkCopy, operandsThatAreWrong) {
  SimulatedKernel size(withBarrier(1, bulkLoad(R"(
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [data], [%d1], 40, [bar];
  )")),
                       2);
  size.expectAlways(ReportKind::Misaligned, "40 bytes");
  SimulatedKernel address(withBarrier(1, bulkLoad(R"(
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [data], [%d1+8], 32, [bar];
  )")),
                          2);
  address.expectAlways(ReportKind::Misaligned);
  SimulatedKernel bounds(withBarrier(1, bulkLoad(R"(
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [data], [%d1+4080], 32, [bar];
  )")),
                         2);
  bounds.expectAlways(ReportKind::OutOfBounds);
}

/// All threads store 32 t to data[t]; thread 0 copies 256 bytes of it to buffer 0 by `copy`.
std::string bulkStore(const std::string &copy, const std::string &fence = "fence.proxy.async.shared::cta;\n") {
  return R"(
    mov.u32 %r3, data;
    mad.lo.u32 %r4, %r0, 4, %r3;
    mul.lo.u32 %r5, %r0, 32;
    st.shared.b32 [%r4], %r5;
  )" + fence +
         R"(
    bar.sync 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra done;
  )" + copy +
         R"(
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  done:
  )";
}

const std::string store256 = "cp.async.bulk.global.shared::cta.bulk_group [%d0], [data], 256;\n";

TEST(BulkCopy, stores) {
  SimulatedKernel kernel(bulkStore(store256), 2);
  expectWords(kernel, 64, [](unsigned i) { return 32 * i; });
  SimulatedKernel fence(bulkStore(store256, ""), 2);
  fence.expectAlways(ReportKind::MissingFence);
}

TEST(BulkCopy, reductions) {
  auto check = [](const std::string &operation, auto &&expected) {
    SimulatedKernel kernel(
        bulkStore("cp.reduce.async.bulk.global.shared::cta.bulk_group." + operation + " [%d0], [data], 256;\n"), 2);
    kernel.clearsBuffers = false;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      auto *words = reinterpret_cast<uint32_t *>(kernel.buffers[0].data());
      for (unsigned i = 0; i < 64; ++i)
        words[i] = 1000 - i;
      auto reports = kernel.run(seed);
      ASSERT_TRUE(reports.empty()) << kernel.text(reports);
      for (unsigned i = 0; i < 64; ++i)
        ASSERT_EQ(words[i], uint32_t(expected(1000 - i, 32 * i))) << operation << " of word " << i;
    }
  };
  check("add.u32", [](uint32_t a, uint32_t b) { return a + b; });
  check("min.s32", [](uint32_t a, uint32_t b) { return std::min(a, b); });
  check("max.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); });
  check("and.b32", [](uint32_t a, uint32_t b) { return a & b; });
  check("xor.b32", [](uint32_t a, uint32_t b) { return a ^ b; });
  check("inc.u32", [](uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; });
  check("dec.u32", [](uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; });
  // In units of the smallest subnormal, halves up to 2048 equal their bits. From 2048 to 4096, consecutive halves are
  // two units apart.
  check("add.noftz.f16", [](uint32_t a, uint32_t b) {
    uint32_t units = a + b, half = units / 2;
    return units < 2048 ? units : 1024 + half + (units % 2 ? half % 2 : 0);
  });
}

TEST(BulkCopy, sourceReusedBeforeItWasRead) {
  auto reuse = [](const std::string &wait) {
    return bulkStore(store256 + "cp.async.bulk.commit_group;\n" + wait + "st.shared.b32 [data], 7;\n");
  };
  SimulatedKernel early(reuse(""), 2);
  early.expectAlways(ReportKind::EarlyUse);
  SimulatedKernel read(reuse("cp.async.bulk.wait_group.read 0;\n"), 2);
  read.expectNone();
}

TEST(BulkCopy, multicast) {
  // CTA 0 loads for both CTAs; each waits at its own barrier.
  SimulatedKernel kernel(withBarrier(1, R"(
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mov.u32 %r7, %cluster_ctarank;
    @%p0 bra wait;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 2048;
    setp.ne.u32 %p2, %r7, 0;
    @%p2 bra wait;
    mov.b16 %h0, 3;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [data], [%d1], 2048, [bar], %h0;
  )" + waitForBar + R"(
    mov.u32 %r3, data;
    mad.lo.u32 %r5, %r0, 32, %r3;
    ld.shared.b32 %r1, [%r5];
    mad.lo.u32 %r0, %r7, 64, %r0;
  )" + storeResult + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"),
                         2);
  kernel.ctas = kernel.clusterSize = 2;
  expectWords(kernel, 128, [](unsigned i) { return 1000 + 8 * (i % 64); });
}

TEST(BulkCopy, betweenCtas) {
  // CTA 1 sends its words to CTA 0.
  SimulatedKernel kernel(withBarrier(1, R"(
    mov.u32 %r7, %cluster_ctarank;
    mov.u32 %r3, data;
    mad.lo.u32 %r4, %r0, 4, %r3;
    mad.lo.u32 %r1, %r7, 500, %r0;
    st.shared.b32 [%r4+1024], %r1;
    fence.proxy.async;
    setp.ne.u32 %p2, %r7, 0;
    setp.eq.u32 %p3, %r0, 0;
    @%p2 bra meet;
    @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
  meet:
    barrier.cluster.arrive;
    barrier.cluster.wait;
    @!%p2 bra wait;
    @!%p3 bra end;
    mapa.shared::cluster.u32 %r5, %r3, 0;
    mov.u32 %r6, bar;
    mapa.shared::cluster.u32 %r6, %r6, 0;
    cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5], [data+1024], 256, [%r6];
    bra end;
  )" + waitForBar + "ld.shared.b32 %r1, [%r4];\n" +
                                            storeResult + "end:\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\n"),
                         2);
  kernel.ctas = kernel.clusterSize = 2;
  expectWords(kernel, 64, [](unsigned i) { return 500 + i; });
}

TEST(AsyncStore, toAnotherCta) {
  SimulatedKernel kernel(withBarrier(1, R"(
    mov.u32 %r7, %cluster_ctarank;
    mov.u32 %r3, data;
    mad.lo.u32 %r4, %r0, 8, %r3;
    xor.b32 %r8, %r7, 1;
    mapa.shared::cluster.u32 %r5, %r4, %r8;
    mov.u32 %r6, bar;
    mapa.shared::cluster.u32 %r6, %r6, %r8;
    setp.eq.u32 %p3, %r0, 0;
    @%p3 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 512;
    barrier.cluster.arrive;
    barrier.cluster.wait;
    mad.lo.u32 %r1, %r7, 500, %r0;
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r5], {%r1, %r0}, [%r6];
  )" + waitForBar + R"(
    ld.shared.v2.b32 {%r1, %r9}, [%r4];
    mad.lo.u32 %r1, %r9, 1000, %r1;
    mad.lo.u32 %r0, %r7, 64, %r0;
  )" + storeResult + "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"),
                         2);
  kernel.ctas = kernel.clusterSize = 2;
  expectWords(kernel, 128, [](unsigned i) { return (i < 64 ? 500 : 0) + i % 64 * 1001; });
}

TEST(Cluster, peerThatHasExited) {
  SimulatedKernel kernel(R"(
    mov.u32 %r7, %cluster_ctarank;
    setp.ne.u32 %p0, %r7, 0;
    @%p0 ret;
    mov.u32 %r3, data;
    mapa.shared::cluster.u32 %r5, %r3, 5;
  )");
  kernel.ctas = kernel.clusterSize = 2;
  kernel.expectAlways(ReportKind::InvalidOperand, "CTA 5 of a cluster of 2");
}

TEST(Decoding, whatIsNotSupportedIsRefused) {
  auto refused = [](const std::string &body) {
    std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                       ".reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n" +
                       body + "\nret;\n}\n";
    auto module = parsePtx(text);
    if (!module)
      return module.error().message;
    GlobalMemory memory;
    auto program = Program::load(*module, "k", memory);
    return program ? std::string("accepted") : program.error().message;
  };
  for (const char *instruction :
       {"cp.async.cg.shared.global [%r0], [%d0], 8;", "cp.async.ca.shared.global [%r0], [%d0], 3;",
        "setmaxnreg.inc.sync.aligned.u32 20;", "setmaxnreg.dec.sync.aligned.u32 100;",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r0], [%d0, {%r1, %r2, "
        "%r3}], [%r4], {%h0};",
        "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r0], [%d0, {%r1}], [%r4];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f16 [%d0], [%r0], 16;",
        "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.f32 [%r0], [%r1], 16, "
        "[%r2];",
        "mbarrier.arrive.noComplete.shared::cluster.b64 %d0, [%r0], 1;", "bar.arrive 1;", "barrier.cluster.sync;",
        "fence.proxy.unknown;", "tensormap.replace.tile.rank.shared::cta.b1024.b64 [%r0], 1;",
        "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r0], 4, %d0;"}) {
    std::string message = refused(instruction);
    EXPECT_NE(message, "accepted") << instruction;
    EXPECT_NE(message.find("line "), std::string::npos) << message;
  }
}

} // namespace
