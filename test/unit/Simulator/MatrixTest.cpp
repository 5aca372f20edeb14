// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fragments, descriptors, ldmatrix, stmatrix and mma: positions against the formulas of the PTX ISA, and rejected
// forms.
#include "SimulatedKernel.h"
#include "Simulator/Exec/Matrix/Descriptor.h"
#include "Simulator/Exec/Matrix/Fragments.h"

#include <set>

namespace tile::sim {
namespace {

using matrix::Position;

TEST(Fragments, f16LeftFactorOfM16n8k16) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned group = lane >> 2, member = lane % 4;
    for (unsigned i = 0; i < 8; ++i) { // PTX ISA 9.7.14.5.8: element ai
      unsigned row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      unsigned column = member * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      Position first = matrix::leftPosition(lane, i / 2, 2);
      EXPECT_EQ((Position{first.row, first.column + i % 2}), (Position{row, column})) << "lane " << lane << ", a" << i;
    }
    for (unsigned i = 0; i < 4; ++i) { // bi
      unsigned row = member * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      Position first = matrix::rightPosition(lane, i / 2, 2);
      EXPECT_EQ((Position{first.row + i % 2, first.column}), (Position{row, group})) << "lane " << lane << ", b" << i;
    }
    for (unsigned i = 0; i < 4; ++i) // ci
      EXPECT_EQ(matrix::accumulatorPosition(lane, i), (Position{i < 2 ? group : group + 8, member * 2 + (i & 1)}));
  }
}

TEST(Fragments, byteLeftFactorOfM16n8k32) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 16; ++i) { // PTX ISA 9.7.14.5.10
      unsigned group = lane >> 2, member = lane % 4;
      unsigned row = i < 4 || (i >= 8 && i < 12) ? group : group + 8;
      unsigned column = i < 8 ? member * 4 + (i & 3) : member * 4 + (i & 3) + 16;
      Position first = matrix::leftPosition(lane, i / 4, 4);
      EXPECT_EQ((Position{first.row, first.column + i % 4}), (Position{row, column})) << "lane " << lane << ", a" << i;
    }
}

TEST(Fragments, wgmmaAccumulatorsCoverTheMatrix) {
  std::set<std::pair<unsigned, unsigned>> all;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 128; ++i) {
      Position at = matrix::accumulatorPosition(lane, i);
      all.insert({at.row, at.column});
      EXPECT_LT(at.row, 16u);
      EXPECT_LT(at.column, 256u);
    }
  EXPECT_EQ(all.size(), 16u * 256u);
}

/// Bits of a descriptor, PTX ISA 9.7.15.5.1.2.
uint64_t bits(uint64_t start, uint64_t leading, uint64_t stride, uint64_t base, uint64_t swizzle) {
  return start / 16 | leading / 16 << 16 | stride / 16 << 32 | base << 49 | swizzle << 62;
}

TEST(Descriptor, followsTheCopyOfATensorMap) {
  // TMA stores the 16 bytes with index c of row r of a box with rows of W bytes at r * W + 16 * (c ^ r * W / 128 % (W /
  // 16)).
  for (auto [width, mode] : {std::pair(128u, 1u), std::pair(64u, 2u), std::pair(32u, 3u)})
    for (unsigned step = 0; step < width; step += 32) // steps along K inside a row
      for (unsigned row = 0; row < 256; ++row)
        for (unsigned chunk = 0; chunk < 2; ++chunk) {
          matrix::Descriptor descriptor(bits(4096 + step, 16, 8 * width, 0, mode));
          unsigned index = step / 16 + chunk;
          unsigned expected = 4096 + row * width + 16 * (index ^ row * width / 128 % (width / 16));
          EXPECT_EQ(descriptor.chunkAddress(false, row, chunk), expected) << width << " " << step << " " << row;
        }
}

TEST(Descriptor, linesThatFollowEachOther) {
  // 256 columns as four boxes of 64 columns and 32 k, each row of 128 bytes one k: leading = a box, stride = 8 k.
  matrix::Descriptor descriptor(bits(2048, 32 * 128, 1024, 0, 1));
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned chunk = 0; chunk < 32; ++chunk) {
      unsigned box = chunk / 8, index = chunk % 8;
      EXPECT_EQ(descriptor.chunkAddress(true, k, chunk), 2048 + box * 4096 + k * 128 + 16 * (index ^ k % 8));
    }
}

/// A warp writes its words to `data`, runs `body` with its row's address in %r10, and stores %r12 … %r15.
SimulatedKernel warpKernel(const std::string &body) {
  SimulatedKernel kernel("shl.b32 %r1, %r0, 4;\n"
                         "cvt.u64.u32 %d2, %r1;\n"
                         "add.s64 %d3, %d0, %d2;\n"
                         "ld.global.v4.b32 {%r2, %r3, %r4, %r5}, [%d3];\n"
                         "mov.u32 %r10, data;\n"
                         "add.s32 %r10, %r10, %r1;\n"
                         "st.shared.v4.b32 [%r10], {%r2, %r3, %r4, %r5};\n"
                         "bar.sync 0;\n"
                         "mov.b32 %r12, 0;\nmov.b32 %r13, 0;\nmov.b32 %r14, 0;\nmov.b32 %r15, 0;\n" +
                             body +
                             "add.s64 %d4, %d1, %d2;\n"
                             "st.global.v4.b32 [%d4], {%r12, %r13, %r14, %r15};\n",
                         2);
  kernel.threads = 32;
  kernel.input.resize(512); // four matrices of 8 rows of 16 bytes, one after another
  for (unsigned i = 0; i < 256; ++i)
    reinterpret_cast<uint16_t *>(kernel.input.data())[i] = i;
  return kernel;
}
uint16_t resultOf(const SimulatedKernel &kernel, unsigned lane, unsigned reg, unsigned part) {
  return reinterpret_cast<const uint16_t *>(kernel.buffers[1].data())[(lane * 4 + reg) * 2 + part];
}
unsigned element(unsigned matrix, unsigned row, unsigned column) {
  return matrix * 64 + row * 8 + column;
}

TEST(MatrixMove, ldmatrix) {
  for (bool transposed : {false, true}) {
    auto kernel = warpKernel(std::string("ldmatrix.sync.aligned.m8n8.x4") + (transposed ? ".trans" : "") +
                             ".shared.b16 {%r12, %r13, %r14, %r15}, [%r10];\n");
    kernel.expectNone();
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned reg = 0; reg < 4; ++reg)
        for (unsigned part = 0; part < 2; ++part) {
          unsigned row = lane / 4, column = lane % 4 * 2 + part;
          EXPECT_EQ(resultOf(kernel, lane, reg, part),
                    transposed ? element(reg, column, row) : element(reg, row, column));
        }
  }
  auto two = warpKernel("ldmatrix.sync.aligned.m8n8.x2.shared::cta.b16 {%r13, %r12}, [%r10];\n");
  two.expectNone();
  EXPECT_EQ(resultOf(two, 5, 0, 1), element(1, 1, 3));
  EXPECT_EQ(resultOf(two, 5, 1, 1), element(0, 1, 3));
}

TEST(MatrixMove, stmatrixUndoesLdmatrix) {
  auto kernel = warpKernel("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r2, %r3, %r4, %r5}, [%r10];\n"
                           "bar.warp.sync -1;\n"
                           "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r10], {%r3, %r2, %r5, %r4};\n"
                           "bar.warp.sync -1;\n"
                           "ld.shared.v4.b32 {%r12, %r13, %r14, %r15}, [%r10];\n");
  kernel.expectNone();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned column = 0; column < 8; ++column)
      EXPECT_EQ(resultOf(kernel, lane, column / 2, column % 2), element((lane / 8) ^ 1, lane % 8, column));
}

TEST(MatrixMove, movmatrix) {
  auto kernel = warpKernel("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r10];\n"
                           "movmatrix.sync.aligned.m8n8.trans.b16 %r12, %r2;\n");
  kernel.expectNone();
  EXPECT_EQ(resultOf(kernel, 13, 0, 1), element(0, 3, 3));
  EXPECT_EQ(resultOf(kernel, 30, 0, 0), element(0, 4, 7));
}

TEST(MatrixMove, reportsRows) {
  warpKernel("add.s32 %r10, %r10, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r12}, [%r10];\n")
      .expectAlways(ReportKind::Misaligned);
  warpKernel("add.s32 %r10, %r10, 4096;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [%r10], {%r12};\n")
      .expectAlways(ReportKind::OutOfBounds);
  warpKernel("setp.lt.u32 %p1, %r0, 16;\n@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r12}, [%r10];\n")
      .expectAlways(ReportKind::Divergence);
  auto half = warpKernel("movmatrix.sync.aligned.m8n8.trans.b16 %r12, %r2;\n");
  half.threads = 16;
  half.expectAlways(ReportKind::Divergence, "all 32 threads");
}

std::string loadError(const std::string &instruction) {
  auto module = parsePtx(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<32>;\n"
                         ".reg .b64 %d<8>;\n.reg .pred %p<4>;\n" +
                         instruction + "\nret;\n}\n");
  if (!module)
    return module.error().message;
  GlobalMemory memory;
  auto program = Program::load(*module, "k", memory);
  return program ? "" : program.error().message;
}

TEST(Matrix, negative_unknownVariantsAreErrorsBeforeAnythingRuns) {
  const std::string four = "{%r0, %r1, %r2, %r3}", two = "{%r4, %r5}";
  for (const std::string &instruction : std::vector<std::string>{
           "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32 " + four + ", " + four + ", " + two + ", " + four + ";",
           "mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " + four + ", " + four + ", " + two + ", " + four + ";",
           "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 " + four + ", " + four + ", " + two + ", " + four + ";",
           "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16 " + two + ", " + four + ", " + two + ", " + two + ";",
           "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 " + four + ", " + four + ", " + two + ", " +
               four + ";",
           "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 " + four + ", " + two + ", " + two + ", " + four + ";",
           "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " + four + ", " + four + ", " + four + ", " + four +
               ", %r6, 0;",
           "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 " + four + ", %d0, %d1, %p0, 1, 1, 0, 0;",
           "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 " + four + ", %d0, %d1, %p0, 1, 2, 0, 0;",
           "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 " + four + ", %d0, %d1, %p0, 1, 1, 0, 1;",
           "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8 " + four + ", %d0, %d1, %p0;",
           "wgmma.wait_group.sync.aligned %r0;", "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r0, %r1}, [%r2];",
           "ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8 " + four + ", [%r2];",
           "ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 " + four + ", [%r2];",
           "ldmatrix.sync.aligned.m8n16.x1.shared.b8 {%r0}, [%r2];",
           "stmatrix.sync.aligned.m16n8.x2.shared.b8 [%r8], " + two + ";",
           "stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r8], " + four + ";"})
    EXPECT_NE(loadError(instruction).find("unsupported"), std::string::npos)
        << instruction << " gives '" << loadError(instruction) << "'";
  EXPECT_NE(loadError("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + four + ", " + two + ", " + two + ", " +
                      four + ";")
                .find("number of registers"),
            std::string::npos);
  EXPECT_NE(loadError("wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 " + four + ", %d0, %d1, %p0, 1, 1, 0, 0;")
                .find("8 accumulator"),
            std::string::npos);
}

} // namespace
} // namespace tile::sim
