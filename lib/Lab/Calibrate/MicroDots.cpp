// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Micro-benchmarks of tensor cores: mma.sync, wgmma and tcgen05.mma. All elements of an operand are equal, so layouts
// do not matter.
#include "Lab/Calibrate/MicroKernels.h"
#include "Target/Engines/Tcgen05.h"

#include <fmt/format.h>

namespace tile::runner {

using target::Feature;
using target::GpuTarget;
using target::MmaType;

namespace {

/// An operand type: its names in PTX, and a word whose elements are all 1.
struct Operand {
  std::string_view name, accumulator;
  uint32_t ones;
  unsigned bytes;
  MmaType type;
};
constexpr Operand f16{"f16", "f32", 0x3c003c00, 2, MmaType::F16}, tf32{"tf32", "f32", 0x3f800000, 4, MmaType::TF32},
    fp8{"e4m3", "f32", 0x38383838, 1, MmaType::F8E4M3}, s8{"s8", "s32", 0x01010101, 1, MmaType::S8};

bool isInteger(const Operand &operand) {
  return operand.accumulator == "s32";
}

/// Returns a list such as "%r20, %r21, ...".
std::string registers(std::string_view kind, unsigned first, unsigned count) {
  std::string list;
  for (unsigned i = 0; i < count; ++i)
    list += fmt::format("{}%{}{}", i ? ", " : "", kind, first + i);
  return list;
}

/// The shape of an mma.sync, and the numbers of registers of its operands.
struct MmaShape {
  unsigned m, n, k, a, b, c;
};

/// Each instruction of an iteration multiplies a different pair of operands, and ptxas cannot prove that `a` does not
/// change. If it could, it would move loop-invariant MMAs out of the loop where it splits an instruction into several
/// (as for fp8 on Hopper).
MicroKernel mmaKernel(std::string_view figure, const Operand &operand, const MmaShape &shape) {
  constexpr unsigned accumulators = 8, rounds = 4, firstA = 20, wordsOfA = 4, firstB = 36, wordsOfB = 2, words = 32;
  MicroKernel kernel{.figure = figure};
  kernel.how = fmt::format("mma.sync.m{}n{}k{} of {}: 8 accumulators in each of 8 warps", shape.m, shape.n, shape.k,
                           operand.name);
  kernel.work = double(shape.m) * shape.n * shape.k * accumulators * rounds * kernel.threads / target::threadsPerWarp;
  kernel.word = operand.ones;
  kernel.resultOfIteration = accumulators * shape.c * rounds * shape.k;
  const std::string_view kind = isInteger(operand) ? "r" : "f";
  const unsigned firstC = isInteger(operand) ? firstA + words : 0;
  kernel.setUp = "shl.b32 %r8, %r2, 7;\ncvt.u64.u32 %d8, %r8;\nadd.u64 %d8, %d1, %d8;\n";
  for (unsigned i = 0; i < words; i += 4)
    kernel.setUp += fmt::format("ld.global.v4.u32 {{{}}}, [%d8+{}];\n", registers("r", firstA + i, 4), 4 * i);
  for (unsigned i = 0; i < accumulators * shape.c; ++i)
    kernel.setUp += fmt::format("mov.b32 %{}{}, 0;\n", kind, firstC + i);
  kernel.body = "shr.u32 %r8, %r0, 31;\n"; // always 0, because there are fewer than 2^31 iterations
  for (unsigned i = 0; i < rounds * wordsOfA; ++i)
    kernel.body += fmt::format("xor.b32 %r{0}, %r{0}, %r8;\n", firstA + i);
  for (unsigned i = 0; i < accumulators * rounds; ++i) {
    const unsigned accumulator = i % accumulators, round = i / accumulators;
    const std::string c = registers(kind, firstC + accumulator * shape.c, shape.c);
    kernel.body += fmt::format("mma.sync.aligned.m{}n{}k{}.row.col.{}.{}.{}.{} {{{}}}, {{{}}}, {{{}}}, {{{}}};\n",
                               shape.m, shape.n, shape.k, operand.accumulator, operand.name, operand.name,
                               operand.accumulator, c, registers("r", firstA + round * wordsOfA, shape.a),
                               registers("r", firstB + accumulator * wordsOfB, shape.b), c);
  }
  for (unsigned i = 0; i < accumulators * shape.c; ++i) {
    const std::string c = fmt::format("%{}{}", kind, firstC + i);
    kernel.fold += isInteger(operand) ? fmt::format("add.u32 %r5, %r5, {};\n", c)
                                      : fmt::format("cvt.rzi.u32.f32 %r8, {};\nadd.u32 %r5, %r5, %r8;\n", c);
  }
  return kernel;
}

// wgmma and tcgen05 read the 128-byte rows of `operands`: b is all of it, a the first rows.
constexpr unsigned rowBytes = 128, columnsOfB = 256, operandBytes = rowBytes * columnsOfB, stepBytes = 32,
                   stepsOfRow = rowBytes / stepBytes;

/// Returns PTX that fills `operands` from `data`, 16 bytes per thread at a time.
std::string fillOperands(unsigned threads) {
  return fillIn("shl.b32 %r8, %r2, 4;\nmov.u32 %r9, operands;\nadd.u32 %r9, %r9, %r8;\ncvt.u64.u32 %d8, %r8;\n"
                "add.u64 %d8, %d1, %d8;\nmov.u32 %r10, 0;\nFILL:\nld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d8];\n"
                "st.shared.v4.u32 [%r9], {%r20, %r21, %r22, %r23};\nadd.u64 %d8, %d8, $0;\nadd.u32 %r9, %r9, $0;\n"
                "add.u32 %r10, %r10, $0;\nsetp.lt.u32 %p2, %r10, $1;\n@%p2 bra FILL;\n"
                "fence.proxy.async.shared::cta;\n",
                {std::to_string(threads * 16), std::to_string(operandBytes)});
}

/// Returns PTX that sets %d10 to %d13 to the matrix descriptors of the four K steps along a row. `bits` contains the
/// descriptor's constant fields (swizzle, strides), which differ between wgmma and tcgen05.
std::string descriptors(uint64_t bits) {
  std::string text = "mov.u32 %r8, operands;\nshr.u32 %r8, %r8, 4;\nand.b32 %r8, %r8, 0x3fff;\ncvt.u64.u32 %d9, %r8;\n";
  for (unsigned step = 0; step < stepsOfRow; ++step)
    text += fmt::format("add.u64 %d{}, %d9, {};\n", 10 + step, bits + step * stepBytes / 16);
  return text;
}
constexpr uint64_t strideOfRows = uint64_t(8 * rowBytes / 16) << 32, leading = uint64_t(1) << 16;

MicroKernel wgmmaKernel(std::string_view figure, const Operand &operand) {
  constexpr unsigned rows = 64, accumulators = 128, instructions = 16;
  const unsigned k = stepBytes / operand.bytes;
  MicroKernel kernel{.figure = figure};
  kernel.how = fmt::format("wgmma.m64n256k{} of {}, 16 at a time in each of 2 warp groups", k, operand.name);
  kernel.work = double(rows) * columnsOfB * k * instructions * 2;
  kernel.word = operand.ones;
  kernel.firstResult = k * instructions; // the first instruction of an iteration overwrites the accumulator
  kernel.shared = fmt::format(".shared .align 1024 .b8 operands[{}];\n", operandBytes);
  kernel.setUp = fillOperands(kernel.threads) + descriptors(uint64_t(1) << 62 | strideOfRows | leading) +
                 "setp.ne.u32 %p2, %r6, %r6;\nsetp.eq.u32 %p3, %r6, %r6;\n";
  const std::string_view kind = isInteger(operand) ? "r" : "f";
  const unsigned first = isInteger(operand) ? 40 : 0;
  const std::string_view modifiers = isInteger(operand) ? "" : operand.bytes == 2 ? ", 1, 1, 0, 0" : ", 1, 1";
  kernel.body = "wgmma.fence.sync.aligned;\n";
  for (unsigned i = 0; i < instructions; ++i)
    kernel.body += fmt::format("wgmma.mma_async.sync.aligned.m64n256k{}.{}.{}.{} {{{}}}, %d{}, %d{}, {}{};\n", k,
                               operand.accumulator, operand.name, operand.name, registers(kind, first, accumulators),
                               10 + i % stepsOfRow, 10 + i % stepsOfRow, i == 0 ? "%p2" : "%p3", modifiers);
  kernel.body += "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  kernel.fold = isInteger(operand) ? "mov.u32 %r5, %r40;\n" : "cvt.rzi.u32.f32 %r5, %f0;\n";
  return kernel;
}

MicroKernel tcgen05Kernel(std::string_view figure, const Operand &operand) {
  constexpr unsigned rows = 128, instructions = 16;
  const unsigned k = stepBytes / operand.bytes;
  const MmaType accumulator = isInteger(operand) ? MmaType::S32 : MmaType::F32;
  MicroKernel kernel{.figure = figure};
  kernel.how = fmt::format("tcgen05.mma.m128n256k{} of {}, without a wait until the end", k, operand.name);
  kernel.threads = rows;
  kernel.work = double(rows) * columnsOfB * k * instructions;
  kernel.word = operand.ones;
  kernel.firstResult = k * instructions; // the first instruction of an iteration overwrites the accumulator
  kernel.isOfThread0 = true;
  kernel.shared = fmt::format(".shared .align 1024 .b8 operands[{}];\n.shared .align 8 .b64 done;\n"
                              ".shared .align 4 .b32 columns;\n",
                              operandBytes);
  kernel.setUp = fillOperands(kernel.threads) +
                 "shr.u32 %r15, %r2, 5;\nsetp.ne.u32 %p4, %r15, 0;\n@%p4 bra ALLOCATED;\n"
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [columns], 256;\n"
                 "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nALLOCATED:\n"
                 "setp.ne.u32 %p5, %r2, 0;\n@!%p5 mbarrier.init.shared::cta.b64 [done], 1;\n"
                 "fence.mbarrier_init.release.cluster;\ntcgen05.fence::before_thread_sync;\nbar.sync 0;\n"
                 "tcgen05.fence::after_thread_sync;\nld.shared.u32 %r16, [columns];\n" +
                 descriptors(uint64_t(2) << 61 | uint64_t(1) << 46 | strideOfRows | leading) +
                 "setp.ne.u32 %p2, %r6, %r6;\nsetp.eq.u32 %p3, %r6, %r6;\n" +
                 fmt::format("mov.u32 %r17, {};\n", target::tcgen05Descriptor(operand.type, operand.type, accumulator,
                                                                              rows, columnsOfB, true, true));
  for (unsigned i = 0; i < instructions; ++i)
    kernel.body += fmt::format("tcgen05.mma.cta_group::1{} [%r16], %d{}, %d{}, %r17, {};\n",
                               target::tcgen05Suffix(operand.type, 0), 10 + i % stepsOfRow, 10 + i % stepsOfRow,
                               i == 0 ? "%p2" : "%p3");
  kernel.end = "setp.ne.u32 %p5, %r2, 0;\n"
               "@!%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];\n"
               "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p6, [done], 0;\n@!%p6 bra WAIT;\n";
  kernel.fold = "tcgen05.fence::after_thread_sync;\nshl.b32 %r18, %r15, 21;\nadd.u32 %r18, %r18, %r16;\n"
                "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r5}, [%r18];\ntcgen05.wait::ld.sync.aligned;\n";
  if (!isInteger(operand))
    kernel.fold += "mov.b32 %f0, %r5;\ncvt.rzi.u32.f32 %r5, %f0;\n";
  kernel.tearDown = "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n@%p4 bra FREED;\n"
                    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r16, 256;\nFREED:\n";
  return kernel;
}

} // namespace

void addDotKernels(const GpuTarget &target, std::vector<MicroKernel> &kernels) {
  const bool isAmpere = target.has(Feature::AsyncCopy);
  kernels.push_back(mmaKernel("mma_f16", f16, isAmpere ? MmaShape{16, 8, 16, 4, 2, 4} : MmaShape{16, 8, 8, 2, 1, 4}));
  if (target.has(Feature::TF32))
    kernels.push_back(mmaKernel("mma_tf32", tf32, {16, 8, 8, 4, 2, 4}));
  if (target.has(Feature::FP8Conversion))
    kernels.push_back(mmaKernel("mma_fp8", fp8, {16, 8, 32, 4, 2, 4}));
  kernels.push_back(mmaKernel("mma_s8", s8, isAmpere ? MmaShape{16, 8, 32, 4, 2, 4} : MmaShape{8, 8, 16, 1, 1, 2}));
  if (target.has(Feature::Wgmma)) {
    kernels.push_back(wgmmaKernel("wgmma_f16", f16));
    kernels.push_back(wgmmaKernel("wgmma_tf32", tf32));
    kernels.push_back(wgmmaKernel("wgmma_fp8", fp8));
    kernels.push_back(wgmmaKernel("wgmma_s8", s8));
  }
  if (target.has(Feature::Tcgen05)) {
    kernels.push_back(tcgen05Kernel("tcgen05_f16", f16));
    kernels.push_back(tcgen05Kernel("tcgen05_tf32", tf32));
    kernels.push_back(tcgen05Kernel("tcgen05_fp8", fp8));
    if (target.has(Feature::Tcgen05Integers))
      kernels.push_back(tcgen05Kernel("tcgen05_s8", s8));
  }
  MicroKernel sustained = target.has(Feature::Tcgen05) ? tcgen05Kernel("sustained_f16", f16)
                          : target.has(Feature::Wgmma) ? wgmmaKernel("sustained_f16", f16)
                                                       : mmaKernel("sustained_f16", f16, {16, 8, 16, 4, 2, 4});
  if (!isAmpere)
    sustained = mmaKernel("sustained_f16", f16, {16, 8, 8, 2, 1, 4});
  sustained.how = "the same, random operands, for two seconds: " + sustained.how;
  sustained.work *= 2; // FLOP
  sustained.quantity = Quantity::CardWorkPerNs;
  sustained.operands = Operands::Random;
  kernels.push_back(sustained);
}

} // namespace tile::runner
