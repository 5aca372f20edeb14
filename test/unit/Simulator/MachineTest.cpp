// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the machine itself: divergence and reconvergence, progress of threads that wait for each other, memory and its
// limits, system calls, and invalid launches.
#include "SimulatedKernel.h"

#include <numeric>

using namespace tile::sim;

namespace {

/// Runs the body under several schedules and compares word `i` of buffer 0 with `expected(i)` for the first `count`
/// words.
template <typename Function>
void expectWords(const std::string &body, unsigned count, Function &&expected, uint32_t threads = 64,
                 uint32_t ctas = 1) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SimulatedKernel kernel(body);
    kernel.threads = threads;
    kernel.ctas = ctas;
    auto reports = kernel.run(seed);
    ASSERT_TRUE(reports.empty()) << kernel.text(reports);
    const auto *words = reinterpret_cast<const uint32_t *>(kernel.buffers[0].data());
    for (unsigned i = 0; i < count; ++i)
      ASSERT_EQ(words[i], uint32_t(expected(i))) << "word " << i << ", seed " << seed;
  }
}

/// Stores %r1 to word %r0 (the thread index) of the buffer.
const std::string storeResult = "mul.wide.u32 %d8, %r0, 4;\nadd.s64 %d8, %d0, %d8;\nst.global.b32 [%d8], %r1;\n";

TEST(Machine, divergentLoop) {
  // Thread t iterates t times; all reconverge after the loop, where a shuffle needs the whole warp.
  expectWords(R"(
    mov.b32 %r1, 0;
    mov.b32 %r2, 0;
  loop:
    setp.ge.u32 %p0, %r2, %r0;
    @%p0 bra done;
    add.s32 %r1, %r1, 3;
    add.s32 %r2, %r2, 1;
    bra loop;
  done:
    shfl.sync.idx.b32 %r1, %r1, 31, 31, -1;
  )" + storeResult,
              64, [](unsigned i) { return (i / 32 * 32 + 31) * 3; });
}

TEST(Machine, nestedBranches) {
  expectWords(R"(
    and.b32 %r2, %r0, 1;
    and.b32 %r3, %r0, 2;
    setp.eq.b32 %p0, %r2, 0;
    setp.eq.b32 %p1, %r3, 0;
    @%p0 bra even;
    @%p1 bra odd0;
    mov.b32 %r1, 30;
    bra join;
  odd0:
    mov.b32 %r1, 10;
    bra join;
  even:
    @%p1 bra even0;
    mov.b32 %r1, 20;
    bra join;
  even0:
    mov.b32 %r1, 0;
  join:
    activemask.b32 %r4;
    popc.b32 %r4, %r4;
    add.s32 %r1, %r1, %r4;
  )" + storeResult,
              64, [](unsigned i) { return i % 4 * 10 + 32; });
}

TEST(Machine, earlyReturn) {
  expectWords(
      R"(
    mov.b32 %r1, 1;
    setp.lt.u32 %p0, %r0, 20;
    @%p0 ret;
    vote.sync.ballot.b32 %r1, 1, 0xfff00000;
  )" + storeResult,
      32, [](unsigned i) { return i < 20 ? 0u : 0xfff00000u; }, 32);
}

TEST(Machine, threadsOfOneWarpProgressIndependently) {
  // Lanes 1 … 31 spin until lane 0, which takes the other branch, has set a flag in shared memory.
  expectWords(
      R"(
    setp.ne.b32 %p0, %r0, 0;
    mov.b32 %r3, 0;
    st.shared.b32 [data], %r3;
    bar.warp.sync -1;
    @!%p0 bra leader;
  spin:
    ld.relaxed.cta.shared.b32 %r2, [data];
    setp.eq.b32 %p1, %r2, 0;
    @%p1 bra spin;
    bra join;
  leader:
    mov.b32 %r3, 7;
    st.relaxed.cta.shared.b32 [data], %r3;
  join:
    mov.b32 %r1, 5;
  )" + storeResult,
      32, [](unsigned) { return 5; }, 32);
}

TEST(Machine, specialRegisters) {
  expectWords(
      R"(
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mad.lo.s32 %r0, %r1, %r2, %r0;
    mov.u32 %r3, %laneid;
    mov.u32 %r4, %warpid;
    shl.b32 %r4, %r4, 8;
    or.b32 %r1, %r3, %r4;
    mov.u32 %r5, %nctaid.x;
    shl.b32 %r5, %r5, 16;
    or.b32 %r1, %r1, %r5;
  )" + storeResult,
      192, [](unsigned i) { return i % 32 | i % 64 / 32 << 8 | 3 << 16; }, 64, 3);
}

TEST(Machine, partialWarp) {
  expectWords("activemask.b32 %r1;\n" + storeResult, 40, [](unsigned i) { return i < 32 ? ~0u : 0xffu; }, 40);
}

TEST(Machine, localMemoryIsOfEachThread) {
  expectWords(R"(
    .local .align 8 .b8 stack[16];
    mov.b64 %d1, stack;
    cvta.local.u64 %d2, %d1;
    st.u32 [%d2+4], %r0;
    bar.warp.sync -1;
    ld.local.b32 %r1, [%d1+4];
  )" + storeResult,
              64, [](unsigned i) { return i; });
}

TEST(Machine, vectorsAndExtension) {
  expectWords(R"(
    mov.b32 %r2, 0x80ff7f01;
    mov.b32 %r3, 5;
    mul.wide.u32 %d9, %r0, 8;
    mov.b64 %d10, data;
    add.s64 %d10, %d10, %d9;
    st.shared.v2.b32 [%d10], {%r2, %r3};
    ld.shared.s8 %r4, [%d10+3];
    ld.shared.u8 %r5, [%d10+2];
    mov.b64 %d11, {%r4, %r5};
    mov.b64 {%r6, _}, %d11;
    sub.s32 %r1, %r5, %r6;
  )" + storeResult,
              64, [](unsigned) { return 0xff - -128; });
}

TEST(Machine, atomicsOfManyBlocks) {
  SimulatedKernel kernel("atom.global.add.u32 %r1, [%d0], 2;\nred.global.max.u32 [%d0+4], %r0;\n"
                         "atom.global.inc.u32 %r2, [%d0+8], 9;\n");
  kernel.ctas = 10;
  auto reports = kernel.run(3);
  ASSERT_TRUE(reports.empty()) << kernel.text(reports);
  const auto *words = reinterpret_cast<const uint32_t *>(kernel.buffers[0].data());
  EXPECT_EQ(words[0], 2u * 64 * 10);
  EXPECT_EQ(words[1], 63u);
  EXPECT_EQ(words[2], 640u % 10);
}

TEST(Machine, sameSeedSameRun) {
  // The schedule determines the order in which threads of different warps add; it is the same for the same seed.
  const std::string body = "atom.global.add.u32 %r1, [%d0+2048], 1;\n" + storeResult;
  auto order = [&](uint64_t seed) {
    SimulatedKernel kernel(body);
    kernel.threads = 256;
    kernel.run(seed);
    return kernel.buffers[0];
  };
  EXPECT_EQ(order(1), order(1));
  bool differs = false;
  for (uint64_t seed = 2; seed < 10; ++seed)
    differs |= order(seed) != order(1);
  EXPECT_TRUE(differs);
}

TEST(Machine, outOfBounds) {
  SimulatedKernel("ld.global.b32 %r1, [%d0+4096];")
      .expectAlways(ReportKind::OutOfBounds, "0 bytes past the end of 'x'");
  SimulatedKernel("ld.global.b32 %r1, [%d0+-4];").expectAlways(ReportKind::OutOfBounds, "4 bytes before 'x'");
  SimulatedKernel("mov.b64 %d1, 0;\nst.global.b32 [%d1], %r1;").expectAlways(ReportKind::OutOfBounds, "a null pointer");
  SimulatedKernel("ld.shared.b32 %r1, [data+4096];").expectAlways(ReportKind::OutOfBounds, "of 4096 bytes");
}

TEST(Machine, misaligned) {
  SimulatedKernel("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d0+8];")
      .expectAlways(ReportKind::Misaligned, "not a multiple of 16");
}

TEST(Machine, deadlockNamesWhoWaits) {
  SimulatedKernel kernel("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra out;\nbar.sync 1, 64;\nout:\n");
  auto reports = kernel.run(0);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.front().kind, ReportKind::Deadlock) << kernel.text(reports);
  ASSERT_FALSE(reports.front().notes.empty());
  EXPECT_EQ(reports.front().notes.front().first.warp, 1);
}

/// A jump table of three targets, one of them twice; lanes reconverge after it.
const std::string jumpTable = R"(
  table: .branchtargets one, two, three, one;
    brx.idx %r2, table;
  one:
    mov.b32 %r1, 10;
    bra join;
  two:
    mov.b32 %r1, 20;
    bra join;
  three:
    mov.b32 %r1, 30;
  join:
    activemask.b32 %r4;
    popc.b32 %r4, %r4;
    add.s32 %r1, %r1, %r4;
)";

TEST(Machine, indexedBranches) {
  constexpr uint32_t values[] = {10, 20, 30, 10};
  expectWords("and.b32 %r2, %r0, 3;\n" + jumpTable + storeResult, 64, [&](unsigned i) { return values[i % 4] + 32; });
  expectWords(
      "shr.u32 %r2, %r0, 5;\n" + jumpTable + storeResult, 128, [&](unsigned i) { return values[i / 32] + 32; }, 128);
}

TEST(Machine, indexedBranchesUnderAGuard) {
  // Lanes whose guard is false continue after the branch.
  expectWords(
      R"(
    and.b32 %r2, %r0, 1;
    setp.lt.u32 %p0, %r0, 16;
    mov.b32 %r1, 0;
  table: .branchtargets one, two;
    @%p0 brx.idx %r2, table;
    mov.b32 %r1, 5;
    bra join;
  one:
    mov.b32 %r1, 10;
    bra join;
  two:
    mov.b32 %r1, 20;
  join:
    bar.warp.sync -1;
  )" + storeResult,
      32, [](unsigned i) { return i < 16 ? 10 + 10 * (i % 2) : 5; }, 32);
}

TEST(Machine, indexedBranchesInALoop) {
  // A state machine: 0 -> 1 -> 2 -> 0 ..., in which each lane makes as many rounds as its index.
  expectWords(
      R"(
    mov.b32 %r1, 0;
    mov.b32 %r2, 0;
    mov.b32 %r3, 0;
  table: .branchtargets zero, one, two;
  again:
    setp.ge.u32 %p0, %r3, %r0;
    @%p0 bra done;
    add.u32 %r3, %r3, 1;
    brx.idx %r2, table;
  zero:
    add.u32 %r1, %r1, 1;
    mov.b32 %r2, 1;
    bra again;
  one:
    add.u32 %r1, %r1, 10;
    mov.b32 %r2, 2;
    bra again;
  two:
    add.u32 %r1, %r1, 100;
    mov.b32 %r2, 0;
    bra again;
  done:
  )" + storeResult,
      32, [](unsigned i) { return i / 3 * 111 + (i % 3 > 0) + (i % 3 > 1) * 10; }, 32);
}

TEST(Machine, indexBeyondTheTargets) {
  SimulatedKernel("mov.b32 %r2, %r0;\n" + jumpTable)
      .expectAlways(ReportKind::InvalidOperand, " of a branch with 4 targets");
}

TEST(Machine, alignedInstructionOfAPartOfAWarp) {
  SimulatedKernel kernel("setp.lt.u32 %p0, %r0, 7;\n@%p0 bar.sync 0;\n");
  kernel.expectAlways(ReportKind::Divergence, "must execute it together");
}

TEST(Machine, trap) {
  SimulatedKernel("trap;").expectAlways(ReportKind::Trap, "trap was executed");
}

std::string loadError(const std::string &body) {
  auto module = parsePtx(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<9>;\n" +
                         body + "\n}\n");
  if (!module)
    return module.error().message;
  GlobalMemory memory;
  auto program = Program::load(*module, "k", memory);
  return program ? "" : program.error().message;
}

TEST(Machine, unsupportedInstructionsAreFoundBeforeTheRun) {
  EXPECT_EQ(loadError("frobnicate.b32 %r1, %r2;"), "line 7: unsupported instruction 'frobnicate.b32' with 2 operands");
  EXPECT_EQ(loadError("mov.b32.sideways %r1, %r2;"),
            "line 7: unsupported instruction 'mov.b32.sideways' with 2 operands");
  EXPECT_NE(loadError("ld.global.b64 %r1, [%r2];").find("register %r1 has 32 bits, 64 are written"), std::string::npos);
}

TEST(Machine, impossibleLaunches) {
  auto module =
      parsePtx(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n.reqntid 64\n{\nret;\n}\n");
  ASSERT_TRUE(module) << module.error().message;
  GlobalMemory memory;
  auto program = Program::load(*module, "k", memory);
  ASSERT_TRUE(program) << program.error().message;
  auto launch = [&](auto change) -> std::string {
    LaunchConfig config;
    config.block[0] = 64;
    change(config);
    Reports reports;
    auto status = Machine(**program, memory, config, reports).run();
    return status ? "" : status.error().message;
  };
  EXPECT_EQ(launch([](LaunchConfig &) {}), "");
  EXPECT_NE(launch([](LaunchConfig &config) { config.block[0] = 32; }).find("requires 64 threads"), std::string::npos);
  EXPECT_NE(launch([](LaunchConfig &config) { config.block[0] = 2048; }).find("2048 threads"), std::string::npos);
  EXPECT_NE(launch([](LaunchConfig &config) { config.cluster[0] = 2; }).find("not a multiple"), std::string::npos);
  EXPECT_NE(launch([](LaunchConfig &config) { config.dynamicShared = 1 << 20; }).find("shared memory"),
            std::string::npos);
  EXPECT_NE(launch([](LaunchConfig &config) { config.grid[1] = 65536; }).find("dimension 1 is 65536; 1 to 65535"),
            std::string::npos);
  EXPECT_NE(launch([](LaunchConfig &config) { config.grid[0] = 0; }).find("dimension 0 is 0"), std::string::npos);
  EXPECT_NE(launch([](LaunchConfig &config) { config.grid[0] = config.cluster[0] = 32; }).find("a cluster of 32"),
            std::string::npos);
  EXPECT_NE(launch([](LaunchConfig &config) { config.parameters.resize(8); }).find("8 bytes of parameters"),
            std::string::npos);
}

} // namespace
