// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frame that all micro-benchmarks share, and the micro-benchmarks of arithmetic, memory, latencies and barriers.
//
// Registers: %r0 remaining iterations, %r1 mask of offsets in `data`, %r2 thread index, %r3 CTA index, %r4 number of
// CTAs, %r5 result, %r6 first word of `data`; %d0 out, %d1 data. Registers from %r8, %f0, %d8 and %p2 on are free.
#include "Lab/Calibrate/MicroKernels.h"

#include <fmt/format.h>

namespace tile::runner {

using target::Feature;
using target::GpuTarget;

std::string fillIn(std::string_view text, std::initializer_list<std::string_view> texts) {
  std::string filled;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '$' && i + 1 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '9')
      filled += texts.begin()[text[++i] - '0'];
    else
      filled += text[i];
  return filled;
}

namespace {

constexpr unsigned unroll = 8;

/// Repeats a text; $0 is replaced by the number of the repetition.
std::string repeat(unsigned count, std::string_view text) {
  std::string all;
  for (unsigned i = 0; i < count; ++i)
    all += fillIn(text, {std::to_string(i)});
  return all;
}

std::string entryOf(const MicroKernel &kernel) {
  const std::string cluster =
      kernel.cluster > 1 ? fmt::format(".reqnctapercluster {}, 1, 1\n", kernel.cluster) : std::string();
  const std::string_view skip = "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra DONE;\n";
  return fillIn(R"(
.visible .entry $0(.param .u64 out, .param .u64 data, .param .u32 iterations, .param .u32 mask)
.reqntid $1, 1, 1
$2{
.reg .pred %p<8>;
.reg .b32 %r<192>;
.reg .f32 %f<128>;
.reg .b64 %d<24>;
$3ld.param.u64 %d0, [out];
ld.param.u64 %d1, [data];
ld.param.u32 %r0, [iterations];
ld.param.u32 %r1, [mask];
mov.u32 %r2, %tid.x;
mov.u32 %r3, %ctaid.x;
mov.u32 %r4, %nctaid.x;
mov.u32 %r5, 0;
ld.global.u32 %r6, [%d1];
$4bar.sync 0;
mov.u64 %d2, %globaltimer;
mov.u64 %d3, %clock64;
$5LOOP:
$6sub.u32 %r0, %r0, 1;
setp.ne.u32 %p0, %r0, 0;
@%p0 bra LOOP;
DONE:
$7bar.sync 0;
mov.u64 %d4, %clock64;
mov.u64 %d5, %globaltimer;
)",
                {kernel.figure, std::to_string(kernel.threads), cluster, kernel.shared, kernel.setUp,
                 kernel.isOfThread0 ? skip : "", kernel.body, kernel.end}) +
         kernel.fold + R"(setp.ne.u32 %p1, %r2, 0;
mul.wide.u32 %d6, %r3, 32;
add.u64 %d6, %d0, %d6;
sub.u64 %d4, %d4, %d3;
@%p1 bra RESULT;
st.global.u64 [%d6], %d2;
st.global.u64 [%d6+8], %d5;
st.global.u64 [%d6+16], %d4;
RESULT:
mul.wide.u32 %d6, %r4, 32;
add.u64 %d6, %d0, %d6;
mov.u32 %r7, %ntid.x;
mad.lo.u32 %r7, %r3, %r7, %r2;
mul.wide.u32 %d7, %r7, 4;
add.u64 %d6, %d6, %d7;
st.global.u32 [%d6], %r5;
)" + kernel.tearDown +
         "ret;\n}\n";
}

// Arithmetic: eight independent chains in each of 512 threads, so that latencies overlap.

constexpr unsigned arithmeticThreads = 512, chains = 8;
constexpr std::string_view addChains = "add.f32 %f1, %f1, %f2;\nadd.f32 %f3, %f3, %f4;\nadd.f32 %f5, %f5, %f6;\n"
                                       "add.f32 %f7, %f7, %f8;\nadd.f32 %f1, %f1, %f3;\nadd.f32 %f5, %f5, %f7;\n"
                                       "add.f32 %f1, %f1, %f5;\n";

/// Returns `text` once for each chain; $0 is replaced by the number of its register, from `first` on (1 for %f, 11 for
/// %r).
std::string forChains(unsigned first, std::string_view text) {
  std::string all;
  for (unsigned chain = 0; chain < chains; ++chain)
    all += fillIn(text, {std::to_string(first + chain)});
  return all;
}

void addArithmetic(std::vector<MicroKernel> &kernels) {
  constexpr uint32_t one = 0x3f800000; // 1 as f32
  const std::string zeros = forChains(1, "mov.f32 %f$0, 0f00000000;\n");
  MicroKernel fma{.figure = "fma_f32", .how = "fma.rn.f32: 8 chains in 512 threads", .threads = arithmeticThreads};
  fma.work = double(unroll) * chains * arithmeticThreads;
  fma.word = one;
  fma.setUp = "mov.b32 %f0, %r6;\n" + zeros;
  for (unsigned i = 0; i < unroll; ++i)
    fma.body += forChains(1, "fma.rn.f32 %f$0, %f$0, %f0, %f0;\n");
  fma.fold = std::string(addChains) + "cvt.rzi.u32.f32 %r5, %f1;\n";
  fma.resultOfIteration = unroll * chains;
  MicroKernel clock = fma;
  clock.figure = "clock";
  clock.how = "fma.rn.f32: clocks of a multiprocessor per ns of the card";
  clock.quantity = Quantity::Clock;

  MicroKernel integer{.figure = "integer", .how = "xor and add: 8 chains in 512 threads", .threads = arithmeticThreads};
  integer.work = double(unroll) * chains * arithmeticThreads;
  // This is always 0, but the compiler cannot know that.
  integer.setUp = "sub.u32 %r8, %r6, 0x01010101;\n" + forChains(11, "mov.u32 %r$0, 0;\n");
  for (unsigned i = 0; i < unroll / 2; ++i)
    integer.body += forChains(11, "xor.b32 %r$0, %r$0, %r8;\nadd.u32 %r$0, %r$0, %r6;\n");
  integer.fold = forChains(11, "add.u32 %r5, %r5, %r$0;\n");
  integer.resultOfIteration = unroll / 2 * chains * integer.word;

  MicroKernel exp2{
      .figure = "exp2", .how = "ex2.approx.ftz.f32: 8 chains in 512 threads", .threads = arithmeticThreads};
  exp2.work = double(unroll) * chains * arithmeticThreads;
  exp2.word = one;
  exp2.setUp = forChains(1, "mov.b32 %f$0, %r6;\n");
  for (unsigned i = 0; i < unroll; ++i)
    exp2.body += forChains(1, "neg.f32 %f$0, %f$0;\nex2.approx.ftz.f32 %f$0, %f$0;\n");
  exp2.fold = std::string(addChains) + "mul.f32 %f1, %f1, 0f48000000;\ncvt.rni.u32.f32 %r5, %f1;\n"; // 2^17
  exp2.firstResult = 672332; // 2^20 times the fixed point of 2^-x, to which the iteration converges
  exp2.tolerance = 1024;     // because a few iterations do not reach the fixed point exactly
  kernels.insert(kernels.end(), {clock, fma, integer, exp2});
}

// Memory: each thread reads or writes `unroll` vectors per iteration. After each access, its offset advances by the
// size that all threads access together.

/// Computes the address of the thread's next access in %d8.
constexpr std::string_view nextAddress =
    "and.b32 %r9, %r8, %r1;\ncvt.u64.u32 %d8, %r9;\nadd.u64 %d8, %d1, %d8;\nadd.u32 %r8, %r8, %r10;\n";

std::string firstAddress(unsigned bytes) {
  return fillIn("mov.u32 %r7, %ntid.x;\nmad.lo.u32 %r8, %r3, %r7, %r2;\nmul.lo.u32 %r8, %r8, $0;\n"
                "mul.lo.u32 %r10, %r4, %r7;\nmul.lo.u32 %r10, %r10, $0;\n",
                {std::to_string(bytes)});
}

constexpr unsigned accessesAtOnce = 4; // per thread and iteration

MicroKernel readKernel(std::string_view figure, unsigned bytes, unsigned threads, Residency residency, Place place,
                       Quantity quantity) {
  MicroKernel kernel{.figure = figure, .quantity = quantity, .residency = residency, .threads = threads};
  // gpu-scope loads are not served by L1, because they must see the stores of all SMs.
  const std::string_view load = "ld.relaxed.gpu.global.L1::no_allocate";
  kernel.how =
      fmt::format("{} of {} bytes, {} in flight per thread, {} threads per CTA", load, bytes, accessesAtOnce, threads);
  kernel.place = place;
  kernel.work = double(bytes) * accessesAtOnce * threads;
  kernel.setUp = firstAddress(bytes);
  const bool isWide = bytes == 16;
  for (unsigned i = 0; i < accessesAtOnce; ++i) {
    const std::string first = std::to_string(20 + 4 * i), second = std::to_string(21 + 4 * i),
                      third = std::to_string(22 + 4 * i), fourth = std::to_string(23 + 4 * i);
    kernel.body += nextAddress;
    kernel.body += fillIn(isWide ? "$4.v4.u32 {%r$0, %r$1, %r$2, %r$3}, [%d8];\n" : "$4.u32 %r$0, [%d8];\n",
                          {first, second, third, fourth, load});
  }
  const unsigned words = bytes / 4;
  for (unsigned i = 0; i < accessesAtOnce; ++i)
    for (unsigned word = 0; word < words; ++word)
      kernel.body += fmt::format("add.u32 %r5, %r5, %r{};\n", 20 + 4 * i + word);
  kernel.resultOfIteration = accessesAtOnce * words * kernel.word;
  return kernel;
}

void addMemory(std::vector<MicroKernel> &kernels) {
  constexpr unsigned wide = 16, narrow = 4, full = 256, few = 128, most = target::maxThreadsPerCta;
  constexpr Quantity perNs = Quantity::CardWorkPerNs, perClock = Quantity::CardWorkPerClock;
  kernels.push_back(readKernel("dram_read", wide, full, Residency::Full, Place::Dram, perNs));
  kernels.push_back(readKernel("dram_read_narrow", narrow, full, Residency::Full, Place::Dram, perNs));
  kernels.push_back(readKernel("dram_read_few", wide, few, Residency::OnePerSm, Place::Dram, perNs));
  MicroKernel write{.figure = "dram_write", .quantity = perNs, .residency = Residency::Full, .threads = full};
  write.how = "st.global of 16 bytes, 256 threads per CTA";
  write.place = Place::Dram;
  write.work = double(wide) * accessesAtOnce * full;
  write.setUp = firstAddress(wide);
  for (unsigned i = 0; i < accessesAtOnce; ++i)
    write.body += std::string(nextAddress) + "st.global.v4.u32 [%d8], {%r6, %r6, %r6, %r6};\n";
  write.body += "add.u32 %r5, %r5, 1;\n";
  write.resultOfIteration = 1;
  kernels.push_back(write);
  kernels.push_back(readKernel("l2_read", wide, full, Residency::Full, Place::L2, perClock));
  kernels.push_back(readKernel("l2_read_narrow", narrow, full, Residency::Full, Place::L2, perClock));
  kernels.push_back(readKernel("l2_read_few", wide, few, Residency::OnePerSm, Place::L2, perClock));
  kernels.push_back(readKernel("sm_ingest", wide, most, Residency::Single, Place::L2, Quantity::WorkPerClock));

  MicroKernel shared{.figure = "shared_read", .how = "ld.shared of 16 bytes, 512 threads", .threads = 512};
  constexpr unsigned buffers = 4;
  shared.work = double(wide) * unroll * shared.threads;
  shared.shared = ".shared .align 16 .b8 buffer[32768];\n";
  shared.setUp = "mov.u32 %r8, buffer;\nshl.b32 %r9, %r2, 4;\nadd.u32 %r8, %r8, %r9;\n" +
                 repeat(buffers, "add.u32 %r9, %r8, $0 * 8192;\nst.shared.v4.u32 [%r9], {%r6, %r6, %r6, %r6};\n");
  for (unsigned i = 0; i < unroll; ++i)
    shared.body += fmt::format("ld.volatile.shared.v4.u32 {{%r20, %r21, %r22, %r23}}, [%r8+{}];\n"
                               "add.u32 %r5, %r5, %r20;\nadd.u32 %r5, %r5, %r21;\n"
                               "add.u32 %r5, %r5, %r22;\nadd.u32 %r5, %r5, %r23;\n",
                               i % buffers * 8192);
  shared.resultOfIteration = 4 * unroll * shared.word;
  kernels.push_back(shared);
}

// Latencies: each load gets its address from the previous load.

MicroKernel chase(std::string_view figure, Place place, unsigned stride, unsigned stridePerCta) {
  MicroKernel kernel{.figure = figure, .quantity = Quantity::ClocksPerStep, .threads = target::threadsPerWarp};
  kernel.how =
      fmt::format("ld.global.cg, each address from the load before it and two additions; steps of {} bytes", stride);
  kernel.place = place;
  kernel.work = unroll;
  kernel.word = 0;
  kernel.setUp = fmt::format("mul.lo.u32 %r8, %r3, {};\n", stridePerCta);
  for (unsigned i = 0; i < unroll; ++i)
    kernel.body += fmt::format("and.b32 %r9, %r8, %r1;\ncvt.u64.u32 %d8, %r9;\nadd.u64 %d8, %d1, %d8;\n"
                               "ld.global.cg.u32 %r10, [%d8];\nadd.u32 %r8, %r8, {};\nadd.u32 %r8, %r8, %r10;\n",
                               stride);
  kernel.body += "add.u32 %r5, %r5, 1;\nadd.u32 %r5, %r5, %r10;\n";
  kernel.resultOfIteration = 1;
  return kernel;
}

void addLatencies(const GpuTarget &target, std::vector<MicroKernel> &kernels) {
  kernels.push_back(chase("dram_latency", Place::Dram, 66816, 524544));
  kernels.push_back(chase("l2_latency", Place::L2, 4352, 640));

  MicroKernel shared{.figure = "shared_latency", .quantity = Quantity::ClocksPerStep};
  shared.how = "ld.shared, each address from the load before it";
  shared.threads = target::threadsPerWarp;
  shared.work = unroll;
  shared.shared = ".shared .align 16 .b32 cell;\n";
  shared.setUp = "mov.u32 %r8, cell;\nsetp.ne.u32 %p2, %r2, 0;\n@!%p2 st.shared.u32 [%r8], %r8;\nmov.u32 %r9, %r8;\n";
  shared.body = repeat(unroll, "ld.volatile.shared.u32 %r8, [%r8];\n") + "add.u32 %r5, %r5, 1;\n";
  shared.fold = "sub.u32 %r8, %r8, %r9;\nadd.u32 %r5, %r5, %r8;\n";
  shared.resultOfIteration = 1;
  kernels.push_back(shared);

  if (target.has(Feature::AsyncCopy)) {
    MicroKernel copy{.figure = "cp_async_round_trip", .quantity = Quantity::ClocksPerStep};
    copy.how = "cp.async.cg of 16 bytes per thread, commit, wait; one warp";
    copy.threads = target::threadsPerWarp;
    copy.work = unroll;
    copy.shared = ".shared .align 16 .b8 buffer[512];\n";
    copy.setUp = "mov.u32 %r8, buffer;\nshl.b32 %r9, %r2, 4;\nadd.u32 %r8, %r8, %r9;\ncvt.u64.u32 %d8, %r9;\n"
                 "add.u64 %d8, %d1, %d8;\n";
    copy.body = repeat(unroll, "cp.async.cg.shared.global [%r8], [%d8], 16;\ncp.async.commit_group;\n"
                               "cp.async.wait_group 0;\n");
    copy.fold = "ld.shared.u32 %r5, [%r8];\n";
    copy.firstResult = copy.word;
    kernels.push_back(copy);
  }
  if (target.has(Feature::Tma)) {
    MicroKernel bulk{.figure = "tma_round_trip", .quantity = Quantity::ClocksPerStep};
    bulk.how = "cp.async.bulk of 1 KiB, wait on its mbarrier; one thread";
    bulk.threads = target::threadsPerWarp;
    bulk.work = 1;
    bulk.isOfThread0 = true;
    bulk.shared = ".shared .align 128 .b8 buffer[1024];\n.shared .align 8 .b64 arrived;\n";
    bulk.setUp = "setp.ne.u32 %p2, %r2, 0;\n@!%p2 mbarrier.init.shared::cta.b64 [arrived], 1;\n"
                 "fence.mbarrier_init.release.cluster;\nmov.u32 %r8, 0;\n";
    bulk.body = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [arrived], 1024;\n"
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [buffer], [%d1], 1024, [arrived];\n"
                "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p3, [arrived], %r8;\n@!%p3 bra WAIT;\n"
                "xor.b32 %r8, %r8, 1;\n";
    bulk.fold = "ld.shared.u32 %r5, [buffer];\n";
    bulk.firstResult = bulk.word;
    kernels.push_back(bulk);
  }
}

void addBarriers(const GpuTarget &target, std::vector<MicroKernel> &kernels) {
  MicroKernel barrier{.figure = "barrier", .how = "bar.sync of 256 threads", .quantity = Quantity::ClocksPerStep};
  barrier.work = unroll;
  barrier.body = repeat(unroll, "bar.sync 0;\n") + "add.u32 %r5, %r5, 1;\n";
  barrier.resultOfIteration = 1;
  kernels.push_back(barrier);
  if (!target.has(Feature::Clusters))
    return;
  MicroKernel cluster = barrier;
  cluster.figure = "cluster_barrier";
  cluster.how = "barrier.cluster of two CTAs of 256 threads: arrive and wait";
  cluster.cluster = 2;
  cluster.body =
      repeat(unroll, "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n") + "add.u32 %r5, %r5, 1;\n";
  kernels.push_back(cluster);
}

} // namespace

bool isExpected(const MicroKernel &kernel, uint32_t iterations, uint32_t result) {
  const uint32_t least = kernel.firstResult + iterations * kernel.resultOfIteration - kernel.tolerance;
  return result - least <= 2 * kernel.tolerance; // modulo 2^32
}

std::vector<MicroKernel> microKernels(const GpuTarget &target) {
  std::vector<MicroKernel> kernels;
  addArithmetic(kernels);
  addDotKernels(target, kernels);
  addMemory(kernels);
  addLatencies(target, kernels);
  addBarriers(target, kernels);
  return kernels;
}

std::string moduleOf(const GpuTarget &target, std::span<const MicroKernel> kernels) {
  std::string text = fmt::format(".version {}.{}\n.target {}\n.address_size 64\n", target.ptxVersion / 10,
                                 target.ptxVersion % 10, target.name);
  for (const MicroKernel &kernel : kernels)
    text += entryOf(kernel);
  return text + "\n.visible .entry empty()\n{\nret;\n}\n";
}

} // namespace tile::runner
