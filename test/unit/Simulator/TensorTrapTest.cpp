// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors that compilers and kernels for Blackwell have had. Each is a correct kernel with one change, and its report
// names the line of the change, for every order of events.
#include "TensorKernel.h"

using namespace tile::sim;

namespace {

/// A 128x16x16 MMA of zeros.
TensorKernel correct() {
  TensorKernel text;
  text.left = TensorKernel::bits(0, 128, 256, 0);
  text.right = TensorKernel::bits(4096, 128, 256, 0);
  text.mma =
      "tcgen05.mma.cta_group::1.kind::f16 [%r10], %d10, %d11, " + std::to_string(1 << 4 | 2 << 17 | 8 << 24) + ", 0;\n";
  return text;
}

/// Returns the PTX line in which `words` begin, after `from`.
uint32_t lineOf(const SimulatedKernel &kernel, const std::string &words) {
  const std::string &ptx = kernel.ptx();
  const size_t at = ptx.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  return uint32_t(std::count(ptx.begin(), ptx.begin() + at, '\n')) + 1;
}

/// Expects, for every seed, a report of the kind at the line that contains `place`, with a message that contains
/// `words`.
void expectAt(const TensorKernel &text, ReportKind kind, const std::string &place, const std::string &words) {
  auto kernel = text.make();
  const uint32_t line = lineOf(*kernel, place);
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const std::vector<Report> reports = kernel->run(seed);
    const bool found = std::any_of(reports.begin(), reports.end(), [&](const Report &report) {
      return report.kind == kind && report.actor.loc.ptxLine == line && report.message.find(words) != std::string::npos;
    });
    ASSERT_TRUE(found) << "seed " << seed << ": no " << reportKindName(kind) << " at line " << line << " in\n"
                       << kernel->text(reports);
  }
}

TEST(TensorTraps, nothingIsWrongWithTheKernel) {
  correct().make()->expectNone();
}

TEST(TensorTraps, addressIsReadBeforeTheBarrier) {
  TensorKernel text = correct();
  text.barrier = ""; // a race or an uninitialized read, depending on the order
  auto kernel = text.make();
  const uint32_t line = lineOf(*kernel, "ld.shared.b32 %r10");
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const std::vector<Report> reports = kernel->run(seed);
    EXPECT_TRUE(std::any_of(reports.begin(), reports.end(),
                            [&](const Report &report) {
                              return report.actor.loc.ptxLine == line &&
                                     (report.kind == ReportKind::Race || report.kind == ReportKind::Uninitialized);
                            }))
        << "seed " << seed << "\n"
        << kernel->text(reports);
  }
}

TEST(TensorTraps, tensorMemoryIsNotFreed) {
  TensorKernel text = correct();
  text.dealloc = "";
  expectAt(text, ReportKind::TensorMemory, "tcgen05.alloc", "no tcgen05.dealloc");
}

TEST(TensorTraps, anotherWarpFrees) {
  TensorKernel text = correct();
  text.dealloc.replace(text.dealloc.find("@%p0 bra"), 8, "setp.ne.u32 %p4, %r1, 2;\n@%p4 bra");
  expectAt(text, ReportKind::TensorMemory, "tcgen05.dealloc", "allocated by warp 0");
}

TEST(TensorTraps, columnsBeyondTheAllocation) {
  TensorKernel text = correct();
  text.mma.replace(text.mma.find("[%r10]"), 6, "[%r10+56]");
  expectAt(text, ReportKind::TensorMemory, "tcgen05.mma", "column 64 is not allocated");
}

TEST(TensorTraps, accumulatorIsReadTooEarly) {
  TensorKernel text = correct();
  text.wait = "";
  expectAt(text, ReportKind::EarlyUse, "tcgen05.ld", "tcgen05.mma still writes");
  text = correct();
  text.waitFence = "";
  expectAt(text, ReportKind::MissingFence, "tcgen05.ld", "fence::after_thread_sync is missing");
  text = correct();
  text.commit = "";
  auto kernel = text.make();
  kernel->expectAlways(ReportKind::Deadlock, "");
}

TEST(TensorTraps, storeIsNotWaitedForBeforeItIsMultiplied) {
  TensorKernel text = correct();
  const std::string store =
                        "mov.b32 %t0, 0;\ntcgen05.st.sync.aligned.32x32b.x8.b32 [%r12+32], {%t0, %t0, %t0, %t0, %t0, "
                        "%t0, %t0, %t0};\n",
                    waits = "tcgen05.wait::st.sync.aligned;\n", before = "tcgen05.fence::before_thread_sync;\n",
                    meet = "bar.sync 0;\n", after = "tcgen05.fence::after_thread_sync;\n";
  text.mma.replace(text.mma.find("%d10"), 4, "[%r10+32]");
  text.beforeMma = store + waits + before + meet + after;
  text.make()->expectNone();
  text.beforeMma = store + before + meet + after;
  expectAt(text, ReportKind::EarlyUse, "tcgen05.mma", "tcgen05.st still writes");
  text.beforeMma = store + waits + before + after;
  expectAt(text, ReportKind::EarlyUse, "tcgen05.mma", "");
  text.beforeMma = store + waits + before + meet;
  expectAt(text, ReportKind::MissingFence, "tcgen05.mma", "fence::after_thread_sync");
  text.beforeMma = store + waits + meet + after;
  expectAt(text, ReportKind::MissingFence, "tcgen05.mma", "fence::before_thread_sync");
}

TEST(TensorTraps, sharedMemoryIsNotFenced) {
  TensorKernel text = correct();
  text.proxyFence = "";
  expectAt(text, ReportKind::MissingFence, "tcgen05.mma", "fence.proxy.async");
}

/// The wait implies that the MMA has read A and B, but not that other threads' writes before the commit are visible.
TEST(TensorTraps, commitPassesNoWritesOfThreads) {
  TensorKernel text = correct();
  text.commit = "mov.b32 %t8, 7;\nst.shared.b32 [%r11+12288], %t8;\n" + text.commit;
  text.waitFence += "ld.shared.b32 %t9, [%r11+12288];\n";
  expectAt(text, ReportKind::Race, "ld.shared.b32 %t9", "");
}

/// One warp copies to a buffer that an MMA of another warp reads, and again after the MMA, whose completion only a
/// commit signals.
TEST(TensorTraps, placeOfFactorsIsReusedTooEarly) {
  auto wait = [](const std::string &barrier, unsigned parity) {
    static unsigned count = 0;
    const std::string label = "WAIT_" + std::to_string(count++);
    return label + ":\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [" + barrier + "], " + std::to_string(parity) +
           ";\n@!%p3 bra " + label + ";\n";
  };
  const std::string copy =
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;\n"
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [data], [%d0], 1024, [full];\n";
  auto ring = [&](bool wholeWarpWaits, bool isFreeTooEarly) {
    TensorKernel text = correct();
    text.beforeMma = ".shared .align 8 .b64 full;\n.shared .align 8 .b64 empty;\n@%p1 bra READY_TO_COPY;\n"
                     "mbarrier.init.shared::cta.b64 [full], 1;\nmbarrier.init.shared::cta.b64 [empty], 1;\n"
                     "fence.mbarrier_init.release.cluster;\nREADY_TO_COPY:\nbar.sync 0;\n"
                     "setp.ne.u32 %p4, %r0, 32;\n@%p4 bra COPIED;\n" +
                     copy + "COPIED:\n";
    const std::string free = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [empty];\n";
    text.mma = (wholeWarpWaits ? "" : wait("full", 0)) + (isFreeTooEarly ? free : "") + text.mma;
    if (wholeWarpWaits)
      text.beforeMma += "@%p0 bra FULL;\n" + wait("full", 0) + "FULL:\n";
    if (!isFreeTooEarly)
      text.commit += free;
    text.wait = "@%p4 bra AGAIN;\n" + wait("empty", 0) + copy + "AGAIN:\n" + text.wait;
    text.lastBarrier = wait("full", 1) + text.lastBarrier;
    return text;
  };
  for (bool wholeWarpWaits : {false, true}) {
    ring(wholeWarpWaits, false).make()->expectNone();
    ring(wholeWarpWaits, true).make()->expectAlways(ReportKind::EarlyUse, "");
  }
}

TEST(TensorTraps, twoThreadsAddToOneAccumulator) {
  TensorKernel text = correct();
  std::string other = text.mma;
  other.replace(other.rfind(", 0;"), 4, ", 1;");
  // Thread 32 also multiplies, and nothing orders the two threads.
  text.beforeMma = "setp.ne.u32 %p4, %r0, 32;\nshr.u32 %r5, %r11, 4;\ncvt.u64.u32 %d4, %r5;\nadd.s64 %d10, %d4, " +
                   std::to_string(int64_t(text.left)) + ";\nadd.s64 %d11, %d4, " + std::to_string(int64_t(text.right)) +
                   ";\n@%p4 bra OTHERS;\n" + other + "OTHERS:\n";
  auto kernel = text.make();
  kernel->expectAlways(ReportKind::EarlyUse, "tcgen05.mma still writes");
}

TEST(TensorTraps, anotherShapeWritesTheAccumulator) {
  TensorKernel text = correct();
  text.mma += "tcgen05.mma.cta_group::1.kind::f16 [%r10], %d10, %d11, " + std::to_string(1 << 4 | 4 << 17 | 8 << 24) +
              ", 1 ;\n";
  text.allocated = 64;
  expectAt(text, ReportKind::EarlyUse, std::to_string(1 << 4 | 4 << 17 | 8 << 24), "the same accumulator and shape");
}

TEST(TensorTraps, upperHalfOfADescriptorIsLost) {
  TensorKernel text = correct();
  text.mma = "cvt.u32.u64 %r15, %d10;\ncvt.u64.u32 %d10, %r15;\n" + text.mma;
  expectAt(text, ReportKind::InvalidOperand, "tcgen05.mma", "its upper half is lost");
}

TEST(TensorTraps, warpReadsLanesOfAnother) {
  TensorKernel text = correct();
  text.waitFence += "mov.b32 %r12, %r10;\n";
  expectAt(text, ReportKind::InvalidOperand, "tcgen05.ld", "which reaches lanes");
}

TEST(TensorTraps, registersAreTooFew) {
  // 128 threads of 64 registers: a warp group cannot get 128 registers per thread while none have been released.
  TensorKernel text = correct();
  SimulatedKernel kernel("setmaxnreg.inc.sync.aligned.u32 128;\n", 1, ".maxnreg 64 ", {"9.0", "sm_100a", 1024, 4096});
  kernel.threads = 128;
  kernel.expectAlways(ReportKind::Deadlock, "");
  // Roles of single warps of a group request their registers with different instructions; the number must be the same.
  auto roles = [](unsigned first, unsigned others, bool asksAgain) {
    const std::string set = "setmaxnreg.dec.sync.aligned.u32 ";
    auto kernel = std::make_unique<SimulatedKernel>(
        "setp.lt.u32 %p1, %r0, 32;\n@!%p1 bra OTHERS;\n" + set + std::to_string(first) + ";\n" +
            (asksAgain ? set + std::to_string(first) + ";\n" : "") + "bra END;\nOTHERS:\n" + set +
            std::to_string(others) + ";\nEND:\n",
        1, ".maxnreg 64 ", SimulatedKernel::Setup{"9.0", "sm_100a", 1024, 4096});
    kernel->threads = 128;
    return kernel;
  };
  roles(40, 40, false)->expectNone();
  roles(40, 40, true)->expectNone(); // a request for the number that the warp already has
  roles(40, 48, false)->expectAlways(ReportKind::InvalidOperand, "of its group executes the setmaxnreg at line");
}

} // namespace
