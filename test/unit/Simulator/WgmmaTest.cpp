// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma on the machine: results for every layout, and reports of missing synchronization.
#include "SimulatedKernel.h"
#include "Simulator/Exec/Matrix/Fragments.h"

#include <cmath>

using namespace tile::sim;

namespace {

/// 128 threads store 4096 bytes to shared memory, multiply 64x16 by 16x8 matrices of f16 in it, and store the
/// accumulators, four per thread.
struct WgmmaKernel {
  std::string proxyFence = "fence.proxy.async.shared::cta;\n";
  std::string barrier = "bar.sync 0;\n";
  std::string fence = "wgmma.fence.sync.aligned;\n";
  std::string keep = "mov.pred %p1, 0;\n";
  std::string before; ///< text before the first wgmma
  std::string instruction = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r12, %r13, %r14, %r15}, %d5, %d6, "
                            "%p1, 1, 1, 0, 0;\n";
  std::string again; ///< text after the first wgmma
  std::string commit = "wgmma.commit_group.sync.aligned;\n";
  std::string wait = "wgmma.wait_group.sync.aligned 0;\n";
  std::string after;                          ///< text after the wait
  uint64_t left = descriptor(0, 128, 256, 0); ///< descriptor without the address of `data`
  uint64_t right = descriptor(2048, 128, 256, 0);

  static uint64_t descriptor(uint64_t start, uint64_t leading, uint64_t stride, uint64_t swizzle) {
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | swizzle << 62;
  }

  std::string body() const {
    return "shl.b32 %r1, %r0, 5;\n"
           "cvt.u64.u32 %d2, %r1;\n"
           "add.s64 %d3, %d0, %d2;\n"
           "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d3];\n"
           "ld.global.v4.b32 {%r6, %r7, %r8, %r9}, [%d3+16];\n"
           "mov.u32 %r10, data;\n"
           "add.s32 %r11, %r10, %r1;\n"
           "st.shared.v4.b32 [%r11], {%r2, %r3, %r4, %r5};\n"
           "st.shared.v4.b32 [%r11+16], {%r6, %r7, %r8, %r9};\n" +
           proxyFence + barrier +
           "cvt.u64.u32 %d4, %r10;\n"
           "shr.u64 %d4, %d4, 4;\n"
           "add.s64 %d5, %d4, " +
           std::to_string(int64_t(left)) + ";\nadd.s64 %d6, %d4, " + std::to_string(int64_t(right)) + ";\n" +
           "shr.u32 %r16, %r0, 5;\n" // the warp
           "mov.b32 %r12, 0;\nmov.b32 %r13, 0;\nmov.b32 %r14, 0;\nmov.b32 %r15, 0;\n" +
           keep + before + fence + instruction + again + commit + wait + after +
           "shl.b32 %r17, %r0, 4;\n"
           "cvt.u64.u32 %d7, %r17;\n"
           "add.s64 %d8, %d1, %d7;\n"
           "st.global.v4.b32 [%d8], {%r12, %r13, %r14, %r15};\n";
  }
};

uint16_t halfOf(int value) { // used with small integers
  _Float16 half = _Float16(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}

int leftAt(int row, int k) {
  return (row * 7 + k * 3) % 11 - 5;
}
int rightAt(int k, int column) {
  return (k * 5 + column * 2) % 7 - 3;
}

/// Returns the byte offset of an element of an operand that begins at address 0 and has TMA's swizzle: bits 4 to 6 of
/// the offset in a tile of rows of `width` bytes, changed by exclusive or with the bits 7 to 9 (PTX ISA 5.5.6).
unsigned swizzled(unsigned offset, unsigned width) {
  return offset ^ (offset >> 7 & (width / 16 - 1)) << 4;
}

std::unique_ptr<SimulatedKernel> make(const WgmmaKernel &kernel, unsigned threads = 128) {
  auto simulated = std::make_unique<SimulatedKernel>(kernel.body(), 2);
  simulated->threads = threads;
  simulated->input.resize(SimulatedKernel::bufferBytes);
  return simulated;
}

/// The layout is K-major without swizzle. A chunk is 16 bytes of each of 8 rows, and so has 128 bytes; a row has two
/// chunks along K, which are consecutive.
void fillPlain(SimulatedKernel &kernel) {
  auto *memory = reinterpret_cast<uint16_t *>(kernel.input.data());
  for (int line = 0; line < 64; ++line)
    for (int k = 0; k < 16; ++k) {
      unsigned at = line / 8 * 256 + k / 8 * 128 + line % 8 * 16 + k % 8 * 2;
      memory[at / 2] = halfOf(leftAt(line, k));
      if (line < 8)
        memory[(2048 + at) / 2] = halfOf(rightAt(k, line));
    }
}

void expectProduct(const SimulatedKernel &kernel, double scale = 1) {
  auto *result = reinterpret_cast<const float *>(kernel.buffers[1].data());
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < 4; ++i) {
      matrix::Position position = matrix::accumulatorPosition(thread % 32, i);
      int row = thread / 32 * 16 + position.row, column = position.column, sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += leftAt(row, k) * rightAt(k, column);
      ASSERT_EQ(result[thread * 4 + i], float(sum * scale)) << "row " << row << ", column " << column;
    }
}

TEST(WgmmaTest, multiplies) {
  auto kernel = make({});
  fillPlain(*kernel);
  kernel->expectNone();
  expectProduct(*kernel);
}

TEST(WgmmaTest, accumulatesInAChain) {
  WgmmaKernel text;
  text.again = "mov.pred %p1, 1;\n" + text.instruction + text.instruction;
  auto kernel = make(text);
  fillPlain(*kernel);
  kernel->expectNone();
  expectProduct(*kernel, 3);
}

TEST(WgmmaTest, negates) {
  WgmmaKernel text;
  text.instruction.replace(text.instruction.find("1, 1, 0, 0"), 10, "-1, 1, 0, 0");
  auto kernel = make(text);
  fillPlain(*kernel);
  kernel->expectNone();
  expectProduct(*kernel, -1);
}

TEST(WgmmaTest, readsSwizzledRows) {
  struct {
    unsigned width;
    uint64_t mode;
  } swizzles[] = {{32, 3}}; // 64 rows of 32 bytes fill `data` twice
  for (auto [width, mode] : swizzles) {
    WgmmaKernel text;
    text.left = WgmmaKernel::descriptor(0, 16, 8 * width, mode);
    text.right = WgmmaKernel::descriptor(2048, 16, 8 * width, mode);
    auto kernel = make(text);
    auto *memory = reinterpret_cast<uint16_t *>(kernel->input.data());
    for (int line = 0; line < 64; ++line)
      for (int k = 0; k < 16; ++k) {
        unsigned at = swizzled(line * width + k * 2, width);
        memory[at / 2] = halfOf(leftAt(line, k));
        if (line < 8)
          memory[(2048 + at) / 2] = halfOf(rightAt(k, line));
      }
    kernel->expectNone();
    expectProduct(*kernel);
  }
}

TEST(WgmmaTest, readsTransposedFactors) {
  WgmmaKernel text;
  text.instruction.replace(text.instruction.find("1, 1, 0, 0"), 10, "1, 1, 1, 1");
  // 16 rows of 128 bytes, 64 lines each; and 16 chunks of eight columns, not swizzled, 8 deep blocks 128 bytes apart.
  text.left = WgmmaKernel::descriptor(0, 16, 1024, 1);
  text.right = WgmmaKernel::descriptor(2048, 128, 256, 0);
  auto kernel = make(text);
  auto *memory = reinterpret_cast<uint16_t *>(kernel->input.data());
  for (int k = 0; k < 16; ++k) {
    for (int line = 0; line < 64; ++line)
      memory[swizzled(k * 128 + line * 2, 128) / 2] = halfOf(leftAt(line, k));
    for (int column = 0; column < 8; ++column)
      memory[(2048 + k / 8 * 128 + k % 8 * 16 + column * 2) / 2] = halfOf(rightAt(k, column));
  }
  kernel->expectNone();
  expectProduct(*kernel);
}

TEST(WgmmaTest, takesTheLeftFactorFromRegisters) {
  WgmmaKernel text;
  // A thread loads its fragment from the plain layout: rows lane / 4 and the row 8 below, columns 2 * (lane % 4) and
  // those 8 to the right.
  text.before = "and.b32 %r18, %r0, 31;\nshr.u32 %r19, %r18, 2;\nand.b32 %r20, %r18, 3;\n"
                "shl.b32 %r19, %r19, 4;\nshl.b32 %r20, %r20, 2;\nadd.s32 %r19, %r19, %r20;\n"
                "shl.b32 %r20, %r16, 9;\nadd.s32 %r19, %r19, %r20;\nadd.s32 %r19, %r19, %r10;\n"
                "ld.shared.b32 %r21, [%r19];\nld.shared.b32 %r22, [%r19+256];\n"
                "ld.shared.b32 %r23, [%r19+128];\nld.shared.b32 %r24, [%r19+384];\n";
  text.instruction = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r12, %r13, %r14, %r15}, {%r21, %r22, %r23, "
                     "%r24}, %d6, %p1, 1, 1, 0;\n";
  auto kernel = make(text);
  fillPlain(*kernel);
  kernel->expectNone();
  expectProduct(*kernel);

  text.after = "";
  text.again = "mov.b32 %r22, 0;\n"; // written while it may still be read
  auto overwriting = make(text);
  overwriting->expectAlways(ReportKind::AccumulatorUse);
}

TEST(WgmmaTest, reportsAMissingWait) {
  WgmmaKernel text;
  text.wait = "";
  make(text)->expectAlways(ReportKind::AccumulatorUse, "wait_group");
  for (int i = 0; i < 20; ++i) // in this time the wgmma may finish, but only by chance
    text.wait += "bar.sync 1;\n";
  make(text)->expectAlways(ReportKind::AccumulatorUse, "wait_group");
  text.wait = "wgmma.wait_group.sync.aligned 1;\n";
  make(text)->expectAlways(ReportKind::AccumulatorUse);
  text.again = text.commit + text.instruction; // two groups, and waits for the first
  make(text)->expectAlways(ReportKind::AccumulatorUse);
  text.again = "";
  text.wait = "wgmma.wait_group.sync.aligned 0;\n";
  text.commit = "";
  make(text)->expectAlways(ReportKind::AccumulatorUse);
}

TEST(WgmmaTest, reportsAMissingFence) {
  WgmmaKernel text;
  text.fence = "";
  make(text)->expectAlways(ReportKind::MissingFence, "wgmma.fence");
}

TEST(WgmmaTest, reportsAWriteBehindTheFence) {
  WgmmaKernel text;
  text.fence += "mov.b32 %r13, 7;\n";
  make(text)->expectAlways(ReportKind::MissingFence, "%r13");
}

TEST(WgmmaTest, reportsAMissingProxyFence) {
  WgmmaKernel text;
  text.proxyFence = "";
  make(text)->expectAlways(ReportKind::MissingFence, "fence.proxy.async");
}

TEST(WgmmaTest, reportsAMissingBarrier) {
  WgmmaKernel text;
  text.barrier = "";
  make(text)->expectAlways(ReportKind::Race);
}

TEST(WgmmaTest, reportsAFactorOverwrittenTooEarly) {
  WgmmaKernel text;
  text.again = text.commit + "bar.sync 0;\nst.shared.b32 [%r11], %r1;\n";
  text.commit = "";
  make(text)->expectAlways(ReportKind::EarlyUse);
}

TEST(WgmmaTest, aWaitOfOneWarpCoversItsGroup) {
  WgmmaKernel text;
  // Warp 0 signals through an mbarrier that the buffer is free; warp 3 overwrites it.
  text.before = "setp.ne.u32 %p2, %r0, 0;\n@!%p2 mbarrier.init.shared.b64 [data+4000], 1;\nbar.sync 0;\n";
  text.after = "@!%p2 mbarrier.arrive.shared.b64 %d9, [data+4000];\n"
               "setp.ne.u32 %p3, %r16, 3;\n@%p3 bra done;\n"
               "again: mbarrier.try_wait.parity.shared.b64 %p4, [data+4000], 0;\n@!%p4 bra again;\n"
               "mov.b32 %r25, 5;\nst.shared.b32 [%r10+2048], %r25;\ndone:\n";
  auto kernel = make(text);
  fillPlain(*kernel);
  kernel->expectNone();
}

TEST(WgmmaTest, reportsBadOperands) {
  WgmmaKernel text;
  text.right = WgmmaKernel::descriptor(4096 - 128, 128, 256, 0);
  make(text)->expectAlways(ReportKind::OutOfBounds, "right factor");
  text = {};
  text.before = "cvt.u64.u32 %d10, %r16;\nadd.s64 %d6, %d6, %d10;\n";
  make(text)->expectAlways(ReportKind::InvalidOperand, "differ");
  text.before = "cvt.u64.u32 %d10, %r0;\nadd.s64 %d6, %d6, %d10;\n";
  make(text)->expectAlways(ReportKind::InvalidOperand, "between the lanes");
  make({}, 64)->expectAlways(ReportKind::InvalidOperand, "four warps");
}

TEST(WgmmaTest, reportsAnotherShapeOnAccumulatorsInFlight) {
  WgmmaKernel text;
  text.again = text.fence + "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%r12, %r13, %r14, %r15}, %d5, %d6, "
                            "%p1, 1, 1, 0, 0;\n";
  make(text)->expectAlways(ReportKind::AccumulatorUse, "in flight");
}

TEST(WgmmaTest, reportsAWarpThatDoesNotCome) {
  WgmmaKernel text;
  text.before = "setp.eq.u32 %p2, %r16, 2;\n@%p2 bra behind;\n";
  text.after = "behind: bar.sync 1;\n";
  make(text)->expectAlways(ReportKind::Deadlock);
}

} // namespace
