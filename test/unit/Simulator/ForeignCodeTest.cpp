// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Code that other compilers emit: other orders of suffixes, violations of rules that no known device enforces
// (Report::isLatent), and reliance on schedules in which no warp misses a phase.
#include "TensorKernel.h"

using namespace tile::sim;

namespace {

/// Returns true if a kernel with this instruction does not load.
bool isRefused(const std::string &instruction) {
  const auto module = parsePtx(".version 8.7\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
                               ".reg .b64 %d<2>;\n.reg .b32 %r<5>;\nld.param.u64 %d1, [p];\n" +
                               instruction + "\nret;\n}\n");
  EXPECT_TRUE(module) << instruction;
  GlobalMemory memory;
  return module && !Program::load(*module, "k", memory);
}

TEST(ForeignCode, suffixesInAnyOrder) {
  const std::string one = "mov.b32 %r1, 0x3f800000;\n";
  for (const char *suffixes :
       {"acq_rel.gpu.global", "global.gpu.acq_rel", "gpu.global.acq_rel", "global.acq_rel.gpu"}) {
    SimulatedKernel kernel(one + "atom." + suffixes + ".add.f32 %r2, [%d0], %r1;");
    kernel.expectNone();
    float sum = 0;
    std::memcpy(&sum, kernel.buffers[0].data(), sizeof(sum));
    EXPECT_EQ(sum, 64.0f) << suffixes;
  }
  SimulatedKernel("ld.global.gpu.acquire.b32 %r1, [%d0];\nld.global.volatile.b32 %r1, [%d0];\n"
                  "ld.mmio.relaxed.sys.global.b32 %r1, [%d0];")
      .expectNone();
  SimulatedKernel("mul.wide.u32 %d5, %r0, 4;\nadd.s64 %d5, %d0, %d5;\nst.wt.global.b32 [%d5], %r0;\n"
                  "st.global.wt.b32 [%d5], %r0;")
      .expectNone();
  for (const char *twice :
       {"ld.acquire.global.acquire.gpu", "ld.global.global", "ld.acquire.gpu.gpu.global", "ld.global.ca.global"})
    EXPECT_TRUE(isRefused(std::string(twice) + ".b32 %r1, [%d1];")) << twice;
}

TEST(ForeignCode, atomicsWithSuffixesInAnyOrder) {
  const std::string one = "mov.b32 %r1, 1;\nmov.b32 %r3, 2;\nmov.b64 %d1, 1;\nmov.b32 %r4, 0x3f803f80;\n";
  const auto result = [&](const std::string &body) {
    SimulatedKernel kernel(one + body);
    kernel.expectNone();
    uint32_t word = 0;
    std::memcpy(&word, kernel.buffers[0].data(), sizeof(word));
    return word;
  };
  for (const char *text : // libcu++ has the first two
       {"atom.add.relaxed.gpu.s32 %r2, [%d0], %r1;", "atom.add.acq_rel.sys.u32 %r2, [%d0], %r1;",
        "atom.add.gpu.s32 %r2, [%d0], %r1;", "atom.add.global.s32 %r2, [%d0], %r1;",
        "atom.relaxed.add.gpu.global.u32 %r2, [%d0], %r1;", "red.add.relaxed.gpu.u32 [%d0], %r1;",
        "atom.add.u32.global %r2, [%d0], %r1;"})
    EXPECT_EQ(result(text), 64u) << text;
  EXPECT_EQ(result("atom.gpu.cas.b32 %r2, [%d0], 0, %r3;"), 2u);
  EXPECT_EQ(result("atom.cas.acquire.gpu.b32 %r2, [%d0], 0, %r3;"), 2u);
  EXPECT_EQ(result("atom.exch.relaxed.gpu.b32 %r2, [%d0], %r3;"), 2u);
  // 64 times 1.0 in each half
  EXPECT_EQ(result("red.relaxed.gpu.global.v4.bf16x2.add.noftz [%d0], {%r4, %r4, %r4, %r4};"), 0x42804280u);
  EXPECT_EQ(result("red.noftz.add.bf16x2.v4.global.gpu.relaxed [%d0], {%r4, %r4, %r4, %r4};"), 0x42804280u);
  for (const char *twice :
       {"atom.add.add.s32 %r2, [%d0], %r1;", "atom.add.max.s32 %r2, [%d0], %r1;", "atom.add.s32.s32 %r2, [%d0], %r1;",
        "atom.relaxed.add.relaxed.gpu.s32 %r2, [%d0], %r1;", "atom.gpu.add.gpu.s32 %r2, [%d0], %r1;",
        "atom.global.add.s32.global %r2, [%d0], %r1;", "red.global.v4.add.v4.f32 [%d0], {%r1, %r1, %r1, %r1};",
        "red.noftz.add.noftz.bf16x2 [%d0], %r4;", "red.L2::cache_hint.add.L2::cache_hint.s32 [%d0], %r1, %d1;",
        "atom.relaxed.s32 %r2, [%d0], %r1;", "atom.add.gpu %r2, [%d0], %r1;"})
    EXPECT_TRUE(isRefused(twice)) << twice;
}

/// Expects all reports of each seed to be latent, and one of them to contain these words.
void expectLatent(SimulatedKernel &kernel, const std::string &words) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const std::vector<Report> reports = kernel.run(seed);
    bool isFound = false;
    for (const Report &report : reports) {
      EXPECT_TRUE(report.isLatent) << kernel.text(reports);
      EXPECT_FALSE(report.isFatal);
      isFound |= report.message.find(words) != std::string::npos;
    }
    ASSERT_TRUE(isFound) << "seed " << seed << "\n" << kernel.text(reports);
  }
}

/// Thread 0 copies 16 bytes to `data` and waits; `before` follows the initialization of the barrier.
std::string bulkCopy(const std::string &before) {
  return ".shared .align 8 .b64 bar;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra READY;\n" + before +
         "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%d0], 16, [bar];\nREADY:\n"
         "bar.sync 0;\nWAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n";
}

TEST(ForeignCode, initializationsOfBarriersWithoutFences) {
  SimulatedKernel(bulkCopy("mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n")).expectNone();
  SimulatedKernel kernel(bulkCopy("mbarrier.init.shared.b64 [bar], 1;\n"));
  expectLatent(kernel, "whose initialization is not visible");
}

TEST(ForeignCode, copiesToWhereABarrierWas) {
  SimulatedKernel kernel(bulkCopy("mbarrier.init.shared.b64 [data], 1;\nmbarrier.inval.shared.b64 [data];\n"
                                  "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"));
  expectLatent(kernel, "fence.proxy.async is missing between the two");
  SimulatedKernel map(bulkCopy("mov.b32 %r1, data;\nst.bulk.shared::cta [%r1], 128, "
                               "0;\ntensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [data], 0;\n"
                               "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"));
  expectLatent(map, "fence.proxy.async is missing between the two");
  // The value that a store leaves there matters.
  SimulatedKernel(bulkCopy("mov.b32 %r1, 7;\nst.shared.b32 [data], %r1;\n"
                           "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"))
      .expectAlways(ReportKind::MissingFence, "fence.proxy.async is missing between the two");
}

TEST(ForeignCode, commitsToBarriersThatAreGone) {
  // A second commit, for which no thread waits.
  TensorKernel text;
  text.left = text.right = TensorKernel::bits(0, 128, 256, 0);
  text.mma = "setp.ne.u32 %p4, %r0, %r0;\n"
             "tcgen05.mma.cta_group::1.kind::f16 [%r10], %d10, %d11, 0x08040010, %p4;\n";
  const std::string second = ".shared .align 8 .b64 other;\n";
  text.beforeMma = second + "@%p1 bra HERE;\nmbarrier.init.shared::cta.b64 [other], 1;\nHERE:\n";
  text.commit += "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [other];\n";
  text.waitFence += "@%p1 bra GONE;\nmbarrier.inval.shared::cta.b64 [other];\nGONE:\n";
  auto kernel = text.make();
  bool isFound = false;
  for (uint64_t seed = 0; seed < 30; ++seed)
    for (const Report &report : kernel->run(seed)) {
      EXPECT_TRUE(report.isLatent) << report.message;
      isFound |= report.message.find("was invalidated before this commit") != std::string::npos;
    }
  EXPECT_TRUE(isFound);
}

TEST(ForeignCode, pairsThatAllocateBeforeTheyMeet) {
  SimulatedKernel kernel(
      ".shared .align 4 .b32 tptr;\nshr.u32 %r1, %r0, 5;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra READY;\n"
      "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tptr], 64;\nREADY:\nbar.sync 0;\n"
      "ld.shared.b32 %r10, [tptr];\n"
      "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n@%p0 bra END;\n"
      "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 64;\nEND:\n",
      1, "", {"9.0", "sm_100a", 4096, 4096});
  kernel.ctas = kernel.clusterSize = 2;
  expectLatent(kernel, "before the CTAs of the pair have synchronized");
}

/// Warp 0 makes `phases` copies, each after the previous one; warp 1 only polls, and may miss two phases.
TEST(ForeignCode, fairSchedulesLetNoWarpMissPhases) {
  SimulatedKernel kernel(".shared .align 8 .b64 bar;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra READY;\n"
                         "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\nREADY:\n"
                         "bar.sync 0;\nmov.b32 %r2, 0;\nNEXT:\n@%p1 bra ISSUED;\n"
                         "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n"
                         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%d0], 16, [bar];\n"
                         "ISSUED:\nand.b32 %r3, %r2, 1;\n"
                         "WAIT:\nmbarrier.try_wait.parity.shared.b64 %p2, [bar], %r3;\n@!%p2 bra WAIT;\n"
                         "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 9;\n@%p3 bra NEXT;\n");
  bool hangs = false;
  for (uint64_t seed = 0; seed < 30; ++seed)
    for (const Report &report : kernel.run(seed))
      hangs |= report.kind == ReportKind::Deadlock;
  EXPECT_TRUE(hangs);
  kernel.isFair = true;
  kernel.expectNone();
}

} // namespace
