// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Block scales: tcgen05.mma with scales in tensor memory, and mma.sync with scales in registers, against sums of values
// that are exact in single precision.
#include "TensorKernel.h"

using namespace tile::sim;

namespace {

int leftAt(unsigned row, unsigned k) {
  return int((row * 7 + k * 3) % 5) - 2;
}
int rightAt(unsigned k, unsigned column) {
  return int((k * 5 + column * 2) % 5) - 2;
}

/// -2 … 2 as e2m1 and e4m3.
uint32_t e2m1Of(int value) {
  constexpr uint32_t magnitudes[] = {0, 2, 4};
  return magnitudes[std::abs(value)] | uint32_t(value < 0) << 3;
}
uint32_t e4m3Of(int value) {
  constexpr uint32_t magnitudes[] = {0, 0x38, 0x40};
  return magnitudes[std::abs(value)] | uint32_t(value < 0) << 7;
}

struct Scale {
  float value;
  uint8_t bits;
};
/// Returns the scale of a block of a line, different for the two operands.
Scale scaleOf(bool isFraction, unsigned line, unsigned block, unsigned which) {
  constexpr Scale powers[] = {{0.5f, 126}, {1, 127}, {2, 128}, {4, 129}};
  constexpr Scale fractions[] = {{0.5f, 0x30}, {1, 0x38}, {1.5f, 0x3c}, {1.75f, 0x3e}};
  return (isFraction ? fractions : powers)[(line * (which + 2) + block * 3 + line / 32 + which) % 4];
}

struct Case {
  std::string kind, vector;
  unsigned blocks, depth;
  bool isFraction = false;
  unsigned n = 16;
  unsigned firstByte = 0;
  bool isPacked() const { return depth == 64; }
};

float expected(const Case &c, unsigned row, unsigned column) {
  float sum = 0;
  for (unsigned k = 0; k < c.depth; ++k) {
    const unsigned block = k / (c.depth / c.blocks);
    sum += float(leftAt(row, k) * rightAt(k, column)) * scaleOf(c.isFraction, row, block, 0).value *
           scaleOf(c.isFraction, column, block, 1).value;
  }
  return sum;
}

/// K-major without swizzle: 16 bytes of eight lines, the second 16 bytes after them.
void fillFactor(std::byte *memory, const Case &c, unsigned lines, bool isLeft) {
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned k = 0; k < c.depth; ++k) {
      const int value = isLeft ? leftAt(line, k) : rightAt(k, line);
      const unsigned byte = c.isPacked() ? k / 2 : k, at = line / 8 * 256 + byte / 16 * 128 + line % 8 * 16 + byte % 16;
      memory[at] |= c.isPacked() ? std::byte(e2m1Of(value) << k % 2 * 4) : std::byte(e4m3Of(value));
    }
}

/// 32 rows of 16 bytes: row r, word w has the scales of line 32 w + r.
void fillScales(std::byte *memory, const Case &c, unsigned lines, unsigned which) {
  for (unsigned line = 0; line < lines; ++line)
    for (unsigned block = 0; block < c.blocks; ++block)
      memory[line % 32 * 16 + line / 32 * 4 + c.firstByte + block] =
          std::byte(scaleOf(c.isFraction, line, block, which).bits);
}

constexpr unsigned rightStart = 4096, leftScales = 8192, rightScales = leftScales + 512;

TensorKernel kernelOf(const Case &c) {
  TensorKernel text;
  text.columns = c.n;
  text.left = TensorKernel::bits(0, 128, 256, 0);
  text.right = TensorKernel::bits(rightStart, 128, 256, 0);
  const uint32_t type = c.isPacked() ? 1 : 0, descriptor = type << 7 | type << 10 | c.n / 8 << 17 |
                                                           uint32_t(!c.isFraction) << 23 | 128 / 16 << 24 |
                                                           c.firstByte << 29 | c.firstByte << 4;
  const auto scales = [](unsigned start) { return std::to_string(int64_t(TensorKernel::bits(start, 128, 128, 0))); };
  text.mma = "add.s64 %d12, %d4, " + scales(leftScales) + ";\nadd.s64 %d13, %d4, " + scales(rightScales) +
             ";\nadd.s32 %r13, %r10, 32;\nadd.s32 %r14, %r10, 36;\n"
             "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r13], %d12;\n"
             "tcgen05.cp.cta_group::1.32x128b.warpx4 [%r14], %d13;\n"
             "tcgen05.mma.cta_group::1.kind::" +
             c.kind + ".block_scale" + c.vector + " [%r10], %d10, %d11, " + std::to_string(descriptor) +
             ", [%r13], [%r14], 0;\n";
  return text;
}

TEST(TensorScale, multipliesWithBlockScales) {
  for (const Case &c : {Case{"mxf8f6f4", ".scale_vec::1X", 1, 32}, Case{"mxf8f6f4", ".block32", 1, 32, false, 24, 3},
                        Case{"mxf8f6f4", "", 1, 32, false, 40, 1}, Case{"mxf4", ".scale_vec::2X", 2, 64},
                        Case{"mxf4", ".block32", 2, 64, false, 64, 2}, Case{"mxf4nvf4", ".block32", 2, 64},
                        Case{"mxf4nvf4", ".scale_vec::4X", 4, 64, true}, Case{"mxf4nvf4", ".block16", 4, 64, true, 40},
                        Case{"mxf4nvf4", ".block16", 4, 64, false}}) {
    SCOPED_TRACE(c.kind + c.vector + " n " + std::to_string(c.n));
    const TensorKernel text = kernelOf(c);
    auto kernel = text.make();
    std::byte *memory = kernel->input.data();
    fillFactor(memory, c, 128, true);
    fillFactor(memory + rightStart, c, c.n, false);
    fillScales(memory + leftScales, c, 128, 0);
    fillScales(memory + rightScales, c, c.n, 1);
    kernel->expectNone();
    auto *values = reinterpret_cast<const float *>(kernel->buffers[1].data());
    for (unsigned row = 0; row < 128; ++row)
      for (unsigned column = 0; column < c.n; ++column)
        ASSERT_EQ(values[row * text.columns + column], expected(c, row, column)) << row << ", " << column;
  }
}

TEST(TensorScale, reportsWhatIsMissing) {
  const Case c{"mxf8f6f4", "", 1, 32};
  TensorKernel text = kernelOf(c);
  text.mma.erase(text.mma.find("tcgen05.cp"), text.mma.find("tcgen05.mma") - text.mma.find("tcgen05.cp"));
  text.make()->expectAlways(ReportKind::Uninitialized, "tensor memory");
  // Only the scales of blocks of 16 have fractions.
  TensorKernel wrong = kernelOf({"mxf4", ".block32", 2, 64, true});
  wrong.make()->expectAlways(ReportKind::InvalidOperand, "ue4m3");
}

TEST(TensorScale, multipliesInRegisters) {
  // All operand lanes hold ones; the scales of row r are in lane 4 (r % 8) + 2 t + r / 8, those of column n in lane 4 n
  // + t.
  struct {
    std::string suffixes, types, scaleType;
    uint32_t ones;
    unsigned blocks, depth, byte, leftThread, rightThread;
    bool isFraction;
  } cases[] = {
      {"kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col", "f32.e4m3.e4m3.f32", "ue8m0", 0x38383838, 1, 32, 2,
       1, 3, false},
      {"kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col", "f32.e2m1.e3m2.f32", "ue8m0", 0, 1, 32, 0, 0, 0,
       false},
      {"m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X", "f32.e2m1.e2m1.f32", "ue8m0", 0x22222222, 2, 64, 2, 0,
       1, false},
      {"m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X", "f32.e2m1.e2m1.f32", "ue4m3", 0x22222222, 4, 64, 0,
       1, 2, true},
  };
  for (const auto &c : cases) {
    SCOPED_TRACE(c.suffixes + "." + c.types);
    const std::string selectLeft = "{" + std::to_string(c.byte) + ", " + std::to_string(c.leftThread) + "}",
                      selectRight = "{" + std::to_string(c.byte) + ", " + std::to_string(c.rightThread) + "}";
    // e2m1 is in the middle of its byte, e3m2 at the end.
    const uint32_t leftOnes = c.ones ? c.ones : 0x08080808, rightOnes = c.ones ? c.ones : 0x0c0c0c0c;
    const std::string body =
        "shl.b32 %r1, %r0, 2;\ncvt.u64.u32 %d2, %r1;\nadd.s64 %d3, %d0, %d2;\n"
        "ld.global.b32 %r2, [%d3];\nld.global.b32 %r3, [%d3+128];\n"
        "mov.b32 %r4, " +
        std::to_string(leftOnes) + ";\nmov.b32 %r5, " + std::to_string(rightOnes) +
        ";\nmov.b32 %r6, 0;\nmma.sync.aligned." + c.suffixes + "." + c.types + "." + c.scaleType +
        " {%r10, %r11, %r12, %r13}, {%r4, %r4, %r4, %r4}, {%r5, %r5}, {%r6, %r6, %r6, %r6}, {%r2}, " + selectLeft +
        ", {%r3}, " + selectRight +
        ";\nshl.b32 %r1, %r0, 4;\ncvt.u64.u32 %d2, %r1;\nadd.s64 %d3, %d1, %d2;\n"
        "st.global.v4.b32 [%d3], {%r10, %r11, %r12, %r13};\n";
    SimulatedKernel kernel(body, 2, "", {"9.0", "sm_120a", 4096, 4096});
    kernel.threads = 32;
    kernel.input.resize(256);
    for (unsigned block = 0; block < c.blocks; ++block) {
      for (unsigned row = 0; row < 16; ++row)
        kernel.input[(row % 8 * 4 + c.leftThread * 2 + row / 8) * 4 + c.byte + block] =
            std::byte(scaleOf(c.isFraction, row, block, 0).bits);
      for (unsigned column = 0; column < 8; ++column)
        kernel.input[128 + (column * 4 + c.rightThread) * 4 + c.byte + block] =
            std::byte(scaleOf(c.isFraction, column, block, 1).bits);
    }
    kernel.expectNone();
    auto *values = reinterpret_cast<const float *>(kernel.buffers[1].data());
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        float sum = 0;
        for (unsigned block = 0; block < c.blocks; ++block)
          sum += float(c.depth / c.blocks) * scaleOf(c.isFraction, row, block, 0).value *
                 scaleOf(c.isFraction, column, block, 1).value;
        ASSERT_EQ(values[lane * 4 + i], sum) << "row " << row << ", column " << column;
      }
  }
}

TEST(TensorScale, mixesSmallFloatsInRegisters) {
  // 32 terms of 1.5 (e2m1 at bit 2) and 0.5 (e4m3), on 4.
  const std::string body = "mov.b32 %r4, 0x0c0c0c0c;\nmov.b32 %r5, 0x30303030;\nmov.b32 %r6, 0x40800000;\n"
                           "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e4m3.f32 {%r10, %r11, %r12, %r13}, "
                           "{%r4, %r4, %r4, %r4}, {%r5, %r5}, {%r6, %r6, %r6, %r6};\n"
                           "shl.b32 %r1, %r0, 4;\ncvt.u64.u32 %d2, %r1;\nadd.s64 %d3, %d0, %d2;\n"
                           "st.global.v4.b32 [%d3], {%r10, %r11, %r12, %r13};\n";
  SimulatedKernel kernel(body, 1, "", {"9.0", "sm_120a", 4096, 4096});
  kernel.threads = 32;
  kernel.expectNone();
  auto *values = reinterpret_cast<const float *>(kernel.buffers[0].data());
  for (unsigned i = 0; i < 128; ++i)
    ASSERT_EQ(values[i], 28.0f);
}

/// Lanes store their registers as bytes, and load them again; byte c of row r is 16 r + c.
TEST(TensorScale, movesMatricesOfBytes) {
  auto body = [](const std::string &load, unsigned registers) {
    std::string text = "shl.b32 %r1, %r0, 4;\nmov.u32 %r2, data;\nadd.s32 %r2, %r2, %r1;\ncvt.u64.u32 %d2, %r1;\n"
                       "add.s64 %d3, %d0, %d2;\nld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%d3];\n"
                       "st.shared.v4.b32 [%r2], {%r4, %r5, %r6, %r7};\nbar.warp.sync 0xffffffff;\n" +
                       load + "shl.b32 %r1, %r0, " +
                       std::to_string(registers == 4   ? 4
                                      : registers == 2 ? 3
                                                       : 2) +
                       ";\ncvt.u64.u32 %d2, %r1;\nadd.s64 %d3, %d1, %d2;\n";
    for (unsigned i = 0; i < registers; ++i)
      text += "st.global.b32 [%d3+" + std::to_string(4 * i) + "], %r" + std::to_string(10 + i) + ";\n";
    return text;
  };
  struct {
    std::string load;
    unsigned registers;
    uint8_t (*expected)(unsigned thread, unsigned reg, unsigned b);
  } cases[] = {{"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {%r10, %r11, %r12, %r13}, [%r2];\n", 4,
                [](unsigned t, unsigned j, unsigned b) {
                  return uint8_t(16 * (16 * (j / 2) + 4 * (t % 4) + 2 * (j % 2) + b % 2) + t / 4 + 8 * (b / 2));
                }},
               {"ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b4x16_p64 {%r10, %r11}, [%r2];\n", 2,
                [](unsigned t, unsigned j, unsigned b) {
                  const unsigned element = 4 * (t % 4) + b, byte = 16 * (8 * j + t / 4) + element / 2;
                  return uint8_t(byte >> 4 * (element % 2) & 15);
                }},
               {"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%r10}, [%r2];\n", 1,
                [](unsigned t, unsigned j, unsigned b) {
                  const unsigned first = 6 * (4 * (t % 4) + b), byte = 16 * (t / 4) + first / 8;
                  return uint8_t((byte | (byte + 1) << 8) >> first % 8 & 63);
                }},
               // The stored data are the rows: thread t has bytes of row 2 (t%4) and of the next one.
               {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r14, %r15}, [%r2];\nbar.warp.sync 0xffffffff;\n"
                "add.s32 %r16, %r2, 512;\nmov.b32 %r17, 0;\n"
                "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%r16], {%r14, %r15};\nbar.warp.sync 0xffffffff;\n"
                "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r10, %r11}, [%r16];\n",
                2, [](unsigned t, unsigned j, unsigned b) {
                  // Row 8 j + s of the stored data is row 4 (s/2) + 2 j + s%2 of the loaded data.
                  const unsigned s = t / 4, row = 4 * (s / 2) + 2 * (j % 2) + s % 2;
                  return uint8_t(16 * row + 4 * (t % 4) + b);
                }}};
  for (auto &c : cases) {
    SCOPED_TRACE(c.load);
    SimulatedKernel kernel(body(c.load, c.registers), 2, "", {"9.0", "sm_100a", 4096, 4096});
    kernel.threads = 32;
    kernel.input.resize(512);
    for (unsigned i = 0; i < kernel.input.size(); ++i)
      kernel.input[i] = std::byte(i);
    kernel.expectNone();
    for (unsigned thread = 0; thread < 32; ++thread)
      for (unsigned i = 0; i < 4 * c.registers; ++i)
        ASSERT_EQ(uint8_t(kernel.buffers[1][thread * 4 * c.registers + i]), c.expected(thread, i / 4, i % 4))
            << "thread " << thread << ", byte " << i;
  }
}

} // namespace
