// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses of single instructions that the PTX ISA leaves undefined, or that the hardware rejects: location and alignment
// of operands, and the threads that must execute it.
#include "SimulatedKernel.h"

using namespace tile::sim;

namespace {

/// %d5 is a generic address: in shared memory, in local memory, of the first parameter.
const std::string ofShared = "mov.b64 %d5, data;\ncvta.shared.u64 %d5, %d5;\n";
const std::string ofLocal = ".local .align 128 .b8 own[128];\nmov.b64 %d5, own;\ncvta.local.u64 %d5, %d5;\n";
const std::string ofParameter = "mov.b64 %d5, p0;\ncvta.param.u64 %d5, %d5;\n";

TEST(Restrictions, vectorsOf32BytesAreAligned) {
  const std::string load = "ld.global.v8.b32 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, ";
  SimulatedKernel(load + "[%d0+32];").expectNone();
  SimulatedKernel(load + "[%d0+16];").expectAlways(ReportKind::Misaligned, "not a multiple of 32");
  SimulatedKernel("st.global.v4.b64 [%d0+48], {%d1, %d1, %d1, %d1};")
      .expectAlways(ReportKind::Misaligned, "not a multiple of 32");
}

TEST(Restrictions, spacesOfWritesAndAtomics) {
  SimulatedKernel(ofLocal + "mov.b32 %r1, 1;\nst.b32 [%d5], %r1;").expectNone();
  SimulatedKernel(ofParameter + "mov.b32 %r1, 1;\nst.b32 [%d5], %r1;")
      .expectAlways(ReportKind::InvalidOperand, "param address 0x0, where it is not allowed");
  SimulatedKernel(ofLocal + "mov.b32 %r1, 1;\nst.b32 [%d5], %r1;\natom.add.u32 %r1, [%d5], 1;")
      .expectAlways(ReportKind::InvalidOperand, "atomic access of 4 bytes at local address");
}

TEST(Restrictions, vectorsOfAtomicsAreOfGlobalMemory) {
  const std::string zeros = "mov.b32 %r1, 0;\n";
  const std::string add = "red.relaxed.gpu.add.v4.f32 [%d5], {%r1, %r1, %r1, %r1};";
  SimulatedKernel(zeros + "mov.b64 %d5, %d0;\n" + add).expectNone();
  SimulatedKernel(zeros + ofShared + "st.shared.v4.b32 [data], {%r1, %r1, %r1, %r1};\nbar.sync 0;\n" + add)
      .expectAlways(ReportKind::InvalidOperand, "atomic access of 16 bytes at shared");
}

TEST(Restrictions, matricesAreInSharedMemory) {
  SimulatedKernel("ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [%d0];")
      .expectAlways(ReportKind::InvalidOperand, "is in global memory, not in shared memory");
  SimulatedKernel("mov.b32 %r1, 0;\nstmatrix.sync.aligned.m8n8.x1.b16 [%d0], {%r1};")
      .expectAlways(ReportKind::InvalidOperand, "is in global memory, not in shared memory");
}

TEST(Restrictions, nonCoherentLoadsOfWhatTheKernelWrites) {
  const std::string own = "mul.wide.u32 %d8, %r0, 4;\nadd.s64 %d8, %d0, %d8;\n", store = "st.global.b32 [%d8], %r0;\n",
                    load = "ld.global.nc.b32 %r1, [%d8];\n";
  SimulatedKernel(own + store + "bar.sync 0;\nld.global.b32 %r1, [%d8];").expectNone();
  SimulatedKernel(own + load + "bar.sync 0;\n" + store).expectNone();
  SimulatedKernel(own + store + load).expectAlways(ReportKind::Race, "a non-coherent load (.nc)");
  SimulatedKernel(own + store + "bar.sync 0;\nld.global.nc.b32 %r1, [%d0+128];")
      .expectAlways(ReportKind::Race, "a non-coherent load (.nc)");
}

TEST(Restrictions, spacesOfTensorMaps) {
  SimulatedKernel(ofShared + "mov.b32 %r1, 0;\ncp.async.bulk.prefetch.tensor.1d.L2.global [%d5, {%r1}];")
      .expectAlways(ReportKind::InvalidOperand, "in shared memory; cp.async.bulk.prefetch.tensor");
  SimulatedKernel(ofLocal + "fence.proxy.tensormap::generic.acquire.gpu [%d5], 128;")
      .expectAlways(ReportKind::InvalidOperand, "in local memory; fence.proxy");
  SimulatedKernel(ofLocal + "tensormap.replace.tile.global_address.b1024.b64 [%d5], %d0;")
      .expectAlways(ReportKind::InvalidOperand, "in local memory; tensormap.replace");
}

TEST(Restrictions, bytesThatALoadDoesNotUse) {
  auto load = [](const std::string &mask, const std::string &instruction) {
    return ".pragma \"used_bytes_mask " + mask + "\";\n" + instruction;
  };
  const std::string atEnd = "add.s64 %d5, %d0, 4092;\n";
  // The last byte of the word is beyond the end.
  auto shortened = [](const std::string &body) {
    SimulatedKernel kernel(body);
    kernel.threads = 1;
    kernel.buffers[0].resize(4095);
    return kernel;
  };
  shortened(atEnd + load("0x7", "ld.global.b32 %r1, [%d5];")).expectNone();
  shortened(atEnd + load("7", "ld.global.nc.b32 %r1, [%d5];")).expectNone();
  shortened(atEnd + "sub.s64 %d5, %d5, 12;\n" + load("0x07ff", "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%d5];"))
      .expectNone();
  shortened(atEnd + load("0xf", "ld.global.b32 %r1, [%d5];"))
      .expectAlways(ReportKind::OutOfBounds, "read of 4 bytes at byte 4092");
  shortened(atEnd + load("0x8", "ld.global.b32 %r1, [%d5];"))
      .expectAlways(ReportKind::OutOfBounds, "read of 1 bytes at 0 bytes past the end");
  shortened(atEnd + load("0x9", "ld.global.b32 %r1, [%d5];")).expectAlways(ReportKind::OutOfBounds, "read of 1 bytes");
  // The pragma applies only to the next instruction, and the word must be aligned nevertheless.
  shortened(atEnd + load("0x7", "ld.global.b32 %r1, [%d5];\nld.global.b32 %r1, [%d5];"))
      .expectAlways(ReportKind::OutOfBounds, "read of 4 bytes");
  shortened("add.s64 %d5, %d0, 2;\n" + load("0x3", "ld.global.b32 %r1, [%d5];"))
      .expectAlways(ReportKind::Misaligned, "not a multiple of 4");
  // Reading the unused bytes is neither a race nor an uninitialized read.
  const std::string writeLast = "mul.wide.u32 %d6, %r0, 4;\nadd.s64 %d6, %d0, %d6;\nst.global.b8 [%d6+3], %r0;\n"
                                "xor.b32 %r2, %r0, 32;\nmul.wide.u32 %d6, %r2, 4;\nadd.s64 %d6, %d0, %d6;\n";
  SimulatedKernel(writeLast + load("0x7", "ld.global.b32 %r1, [%d6];")).expectNone();
  SimulatedKernel(writeLast + load("0x8", "ld.global.b32 %r1, [%d6];")).expectAlways(ReportKind::Race);
  SimulatedKernel("st.shared.b16 [data], 1;\nbar.sync 0;\n" + load("0x3", "ld.shared.b32 %r1, [data];")).expectNone();
  SimulatedKernel("st.shared.b16 [data], 1;\nbar.sync 0;\n" + load("0x4", "ld.shared.b32 %r1, [data];"))
      .expectAlways(ReportKind::Uninitialized);
}

TEST(Restrictions, mapsAreReleasedAndAcquired) {
  // One thread creates a map in shared memory and copies it to the buffer, as code of compilers does.
  std::string make = "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra end;\nmov.b32 %r1, 0;\nmov.b32 %r2, 16;\n";
  for (int at = 0; at < 128; at += 16)
    make += "st.shared.v4.b32 [data+" + std::to_string(at) + "], {%r1, %r1, %r1, %r1};\n";
  const std::string replace = "tensormap.replace.tile.";
  make += "mov.b32 %r3, data;\n" + replace + "global_address.shared::cta.b1024.b64 [%r3], %d1;\n" + replace +
          "rank.shared::cta.b1024.b32 [%r3], 0;\n" + replace + "elemtype.shared::cta.b1024.b32 [%r3], 0;\n" + replace +
          "box_dim.shared::cta.b1024.b32 [%r3], 0, %r2;\n" + replace +
          "global_dim.shared::cta.b1024.b32 [%r3], 0, %r2;\n" + replace +
          "element_stride.shared::cta.b1024.b32 [%r3], 0, 1;\n";
  for (int at = 0; at < 128; at += 16)
    make += "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [data+" + std::to_string(at) + "];\nst.global.v4.b32 [%d0+" +
            std::to_string(at) + "], {%r4, %r5, %r6, %r7};\n";
  const std::string release = "fence.proxy.tensormap::generic.release.gpu;\n",
                    acquire = "fence.proxy.tensormap::generic.acquire.gpu [%d0], 128;\n",
                    use = "cp.async.bulk.prefetch.tensor.1d.L2.global [%d0, {%r1}];\nend:\n";
  SimulatedKernel(make + release + acquire + use, 2).expectNone();
  SimulatedKernel(make + acquire + use, 2)
      .expectAlways(ReportKind::MissingFence, "no fence.proxy.tensormap::generic.release has been executed");
  SimulatedKernel(make + release + use, 2)
      .expectAlways(ReportKind::MissingFence, "no fence.proxy.tensormap::generic.acquire has been executed");
  // Only the second half of the map is changed after the release.
  SimulatedKernel(make + release + "st.global.v4.b32 [%d0+112], {%r1, %r1, %r1, %r1};\n" + acquire + use, 2)
      .expectAlways(ReportKind::MissingFence, "no fence.proxy.tensormap::generic.release has been executed");
}

TEST(Restrictions, hintsOfLines) {
  SimulatedKernel("discard.global.L2 [%d0+128], 128;").expectNone();
  SimulatedKernel("discard.global.L2 [%d0+64], 128;").expectAlways(ReportKind::Misaligned, "not a multiple of 128");
  SimulatedKernel("applypriority.global.L2::evict_normal [%d0+32], 128;")
      .expectAlways(ReportKind::Misaligned, "not a multiple of 128");
}

/// A kernel of two warp groups, the first of which branches to `others`; they start with 256 registers per thread.
SimulatedKernel ofGroups(const std::string &first, const std::string &second,
                         const std::string &directives = ".maxntid 256 .minnctapersm 1") {
  SimulatedKernel kernel("setp.lt.u32 %p0, %r0, 128;\n@%p0 bra others;\n" + second + "bra end;\nothers:\n" + first +
                             "end:\n",
                         1, directives);
  kernel.threads = 256;
  return kernel;
}

std::string setRegisters(const std::string &action, unsigned count) {
  return "setmaxnreg." + action + ".sync.aligned.u32 " + std::to_string(count) + ";\n";
}

TEST(Restrictions, registersOfWarpGroups) {
  ofGroups(setRegisters("dec", 40), setRegisters("dec", 232)).expectNone();
  const std::string fewer = ".maxntid 256 .minnctapersm 1 .maxnreg 128";
  ofGroups(setRegisters("dec", 40), setRegisters("inc", 216), fewer).expectNone();
  ofGroups(setRegisters("dec", 40), setRegisters("inc", 224), fewer)
      .expectAlways(ReportKind::Deadlock, "no thread can proceed");
  ofGroups(setRegisters("dec", 40), setRegisters("dec", 136), fewer)
      .expectAlways(ReportKind::InvalidOperand, "of a warp that has 128 registers per thread");
  ofGroups(setRegisters("inc", 120), setRegisters("dec", 120), fewer)
      .expectAlways(ReportKind::InvalidOperand, "of a warp that has 128 registers per thread");
  // 256 threads in each of 2^24 CTAs: no registers remain for a thread, so the number is unknown.
  ofGroups("", "", ".maxntid 256 .minnctapersm 16777216").expectNone();
  // If the kernel does not declare the initial number of registers, the instruction may have no effect.
  ofGroups(setRegisters("inc", 256), setRegisters("inc", 256), "").expectNone();
}

TEST(Restrictions, warpsOfAGroupSetTheirRegistersTogether) {
  const std::string firstWarp = "setp.lt.u32 %p1, %r0, 32;\n";
  ofGroups(firstWarp + "@!%p1 bra end;\n" + setRegisters("dec", 40), "")
      .expectAlways(ReportKind::InvalidOperand, "but not by warp");
  ofGroups(firstWarp + "@!%p1 bra rest;\n" + setRegisters("dec", 40) + "bra end;\nrest:\n" + setRegisters("dec", 40),
           "")
      .expectAlways(ReportKind::InvalidOperand, "of its group executes the setmaxnreg at line");
  SimulatedKernel(setRegisters("dec", 40)).expectAlways(ReportKind::InvalidOperand, "but the CTA has 2 warps");
}

} // namespace
