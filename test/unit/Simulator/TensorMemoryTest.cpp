// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor memory: allocation, loads and stores of every shape, copies from shared memory, and reports.
#include "TensorKernel.h"

using namespace tile::sim;

namespace {

std::string list(const std::string &prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", " : "") + prefix + std::to_string(i);
  return text + "}";
}

/// `threads` threads allocate 128 columns, execute `inside`, and free them; %r10 is the first column, %r12 the address
/// of the warp's lanes.
std::string allocated(const std::string &inside, const std::string &shared = "") {
  return ".shared .align 4 .b32 tptr;\n.reg .b32 %t<130>;\n" + shared +
         "shr.u32 %r1, %r0, 5;\nsetp.ne.u32 %p0, %r1, 0;\n@%p0 bra READY;\n"
         "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tptr], 128;\nREADY:\nbar.sync 0;\n"
         "ld.shared.b32 %r10, [tptr];\nshl.b32 %r12, %r1, 21;\nadd.s32 %r12, %r12, %r10;\n" +
         inside + "bar.sync 0;\n@%p0 bra END;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 128;\nEND:\n";
}

/// Stores lane * 1024 + column to columns 0 to 63.
std::string fill() {
  std::string text = "shl.b32 %r2, %r0, 10;\n";
  for (unsigned i = 0; i < 64; ++i)
    text += "add.s32 %t" + std::to_string(i) + ", %r2, " + std::to_string(i) + ";\n";
  return text + "tcgen05.st.sync.aligned.32x32b.x64.b32 [%r12], " + list("%t", 64) +
         ";\ntcgen05.wait::st.sync.aligned;\n";
}

std::unique_ptr<SimulatedKernel> make(const std::string &body, unsigned threads = 128, unsigned buffers = 1) {
  auto kernel =
      std::make_unique<SimulatedKernel>(body, buffers, "", SimulatedKernel::Setup{"9.0", "sm_100a", 8192, 65536});
  kernel->threads = threads;
  return kernel;
}

/// Stores registers to the buffer, `count` words per thread.
std::string storeAll(unsigned count) {
  std::string text =
      "mul.lo.u32 %r4, %r0, " + std::to_string(4 * count) + ";\ncvt.u64.u32 %d4, %r4;\nadd.s64 %d4, %d0, %d4;\n";
  for (unsigned i = 0; i < count; ++i)
    text += "st.global.b32 [%d4+" + std::to_string(4 * i) + "], %t" + std::to_string(i) + ";\n";
  return text;
}

/// A fragment as a layout: returns the index, in a matrix with rows of `rowBits` bits, of bit `bit` of the elements of
/// thread `thread`.
struct Shape {
  std::string name;
  unsigned registers, rowBits;                                ///< registers of .x2, and bits of a row
  std::vector<std::pair<unsigned, unsigned>> threads, values; ///< (size, stride), fastest first
  unsigned bitOf(unsigned thread, unsigned bit) const {
    unsigned result = 0;
    for (auto [size, stride] : threads) {
      result += thread % size * stride;
      thread /= size;
    }
    for (auto [size, stride] : values) {
      result += bit % size * stride;
      bit /= size;
    }
    return result;
  }
};

TEST(TensorMemory, loadsFragmentsOfEveryShape) {
  const Shape shapes[] = {
      {"32x32b", 2, 64, {{32, 64}}, {{64, 1}}},
      {"16x64b", 2, 128, {{2, 1024}, {2, 32}, {8, 128}}, {{32, 1}, {2, 64}}},
      {"16x128b", 4, 256, {{4, 32}, {8, 256}}, {{32, 1}, {2, 2048}, {2, 128}}},
      {"16x256b", 8, 512, {{4, 64}, {8, 512}}, {{64, 1}, {2, 4096}, {2, 256}}},
  };
  for (const Shape &shape : shapes)
    for (unsigned half : {0u, 16u}) {
      if (half && shape.name == "32x32b")
        continue;
      SCOPED_TRACE(shape.name + " " + std::to_string(half));
      auto kernel =
          make(allocated(fill() + "add.s32 %r13, %r12, " + std::to_string(half << 16) + ";\ntcgen05.ld.sync.aligned." +
                         shape.name + ".x2.b32 " + list("%t", shape.registers) +
                         ", [%r13+3];\ntcgen05.wait::ld.sync.aligned;\n" + storeAll(shape.registers)));
      kernel->expectNone();
      auto *words = reinterpret_cast<const uint32_t *>(kernel->buffers[0].data());
      for (unsigned thread = 0; thread < 128; ++thread)
        for (unsigned r = 0; r < shape.registers; ++r) {
          const unsigned bit = shape.bitOf(thread % 32, 32 * r), lane = thread / 32 * 32 + half + bit / shape.rowBits,
                         column = 3 + bit % shape.rowBits / 32;
          ASSERT_EQ(words[thread * shape.registers + r], lane * 1024 + column) << "thread " << thread << " r " << r;
        }
    }
}

TEST(TensorMemory, storesWhatTheSameShapeLoads) {
  for (auto [name, registers] :
       {std::pair("32x32b.x4", 4), std::pair("16x64b.x8", 8), std::pair("16x128b.x4", 8), std::pair("16x256b.x2", 8)}) {
    std::string values;
    for (int i = 0; i < registers; ++i)
      values += "add.s32 %t" + std::to_string(i) + ", %r2, " + std::to_string(7 * i) + ";\nmov.b32 %t" +
                std::to_string(64 + i) + ", 0;\n";
    auto kernel = make(allocated(
        "shl.b32 %r2, %r0, 10;\n" + values + "tcgen05.st.sync.aligned." + name + ".b32 [%r12], " +
        list("%t", registers) + ";\ntcgen05.wait::st.sync.aligned;\ntcgen05.ld.sync.aligned." + name + ".b32 " +
        list("%t", registers) + ", [%r12];\ntcgen05.wait::ld.sync.aligned;\n" + storeAll(registers)));
    kernel->expectNone();
    auto *words = reinterpret_cast<const uint32_t *>(kernel->buffers[0].data());
    for (int thread = 0; thread < 128; ++thread)
      for (int i = 0; i < registers; ++i)
        ASSERT_EQ(words[thread * registers + i], unsigned(thread * 1024 + 7 * i)) << name;
  }
}

TEST(TensorMemory, splitsHalvesAndPacks) {
  // Threads 16 to 31 read the lanes 0 to 15 nine columns on.
  auto split = make(allocated(fill() +
                              "tcgen05.ld.sync.aligned.16x32bx2.x2.b32 {%t0, %t1}, [%r12], 9;\n"
                              "tcgen05.wait::ld.sync.aligned;\n" +
                              storeAll(2)));
  split->expectNone();
  auto *words = reinterpret_cast<const uint32_t *>(split->buffers[0].data());
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned r = 0; r < 2; ++r)
      ASSERT_EQ(words[thread * 2 + r], (thread / 32 * 32 + thread % 16) * 1024 + r + (thread % 32 >= 16 ? 9 : 0));
  // Two columns form a register, and vice versa.
  auto packed = make(allocated(fill() +
                               "tcgen05.ld.sync.aligned.32x32b.x2.pack::16b.b32 {%t0, %t1}, [%r12+4];\n"
                               "tcgen05.wait::ld.sync.aligned;\n"
                               "tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [%r12+64], {%t1};\n"
                               "tcgen05.wait::st.sync.aligned;\n"
                               "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%t2, %t3}, [%r12+64];\n"
                               "tcgen05.wait::ld.sync.aligned;\n" +
                               storeAll(4)));
  packed->expectNone();
  words = reinterpret_cast<const uint32_t *>(packed->buffers[0].data());
  for (unsigned thread = 0; thread < 128; ++thread) {
    auto half = [&](unsigned column) { return (thread * 1024 + column) & 0xffff; };
    ASSERT_EQ(words[thread * 4], half(4) | half(5) << 16);
    ASSERT_EQ(words[thread * 4 + 1], half(6) | half(7) << 16);
    ASSERT_EQ(words[thread * 4 + 2], half(6));
    ASSERT_EQ(words[thread * 4 + 3], half(7));
  }
}

TEST(TensorMemory, copiesFromSharedMemory) {
  struct {
    std::string shape;
    unsigned rows, chunks;
    unsigned lanes[4]; ///< the lanes of row r are r % 32 plus lanes[r / 32]
    unsigned copies;   ///< lanes that get a row
    unsigned (*rowOf)(unsigned lane);
  } shapes[] = {
      {"128x256b", 128, 2, {}, 1, [](unsigned lane) { return lane; }},
      {"128x128b", 128, 1, {}, 1, [](unsigned lane) { return lane; }},
      {"64x128b.warpx2::02_13", 64, 1, {}, 2, [](unsigned lane) { return lane % 64; }},
      {"64x128b.warpx2::01_23", 64, 1, {}, 2, [](unsigned lane) { return lane % 32 + lane / 64 * 32; }},
      {"32x128b.warpx4", 32, 1, {}, 4, [](unsigned lane) { return lane % 32; }},
  };
  for (const auto &shape : shapes) {
    SCOPED_TRACE(shape.shape);
    TensorKernel text;
    text.columns = 8;
    text.left = TensorKernel::bits(0, 128, shape.chunks * 128, 0);
    text.beforeMma = shape.chunks == 1 ? "" : "";
    text.mma = "tcgen05.cp.cta_group::1." + shape.shape + " [%r10], %d10;\n";
    if (shape.chunks == 1)
      text.mma += "add.s32 %r13, %r10, 4;\ntcgen05.cp.cta_group::1." + shape.shape + " [%r13], %d10;\n";
    auto kernel = text.make();
    auto *source = reinterpret_cast<uint32_t *>(kernel->input.data());
    for (unsigned i = 0; i < kernel->input.size() / 4; ++i)
      source[i] = 3 * i;
    kernel->expectNone();
    auto *words = reinterpret_cast<const uint32_t *>(kernel->buffers[1].data());
    for (unsigned lane = 0; lane < 128; ++lane)
      for (unsigned column = 0; column < 8; ++column) {
        const unsigned row = shape.rowOf(lane), chunk = shape.chunks == 1 ? 0 : column / 4,
                       byte = row / 8 * shape.chunks * 128 + row % 8 * 16 + chunk * 128 + column % 4 * 4;
        ASSERT_EQ(words[lane * 8 + column], 3 * (byte / 4)) << "lane " << lane << ", column " << column;
      }
  }
}

TEST(TensorMemory, refreshesFourLanes) {
  TensorKernel text;
  text.columns = 8;
  text.left = TensorKernel::bits(0, 128, 256, 0);
  text.right = TensorKernel::bits(4096, 128, 256, 0);
  text.mma = "tcgen05.cp.cta_group::1.128x256b [%r10], %d10;\nadd.s32 %r13, %r10, " + std::to_string(31 << 16) +
             ";\ntcgen05.cp.cta_group::1.4x256b [%r13], %d11;\n";
  auto kernel = text.make();
  auto *source = reinterpret_cast<uint32_t *>(kernel->input.data());
  for (unsigned i = 0; i < kernel->input.size() / 4; ++i)
    source[i] = i;
  kernel->expectNone();
  auto *words = reinterpret_cast<const uint32_t *>(kernel->buffers[1].data());
  for (unsigned lane = 0; lane < 128; ++lane) {
    const unsigned row = lane % 32 == 31 ? lane / 32 : lane, start = lane % 32 == 31 ? 4096 : 0;
    ASSERT_EQ(words[lane * 8 + 5], (start + row / 8 * 256 + row % 8 * 16 + 128 + 4) / 4);
  }
}

TEST(TensorMemory, reportsWrongAllocations) {
  auto expect = [](const std::string &body, ReportKind kind, const std::string &words) {
    make(body)->expectAlways(kind, words);
  };
  std::string plain = allocated("");
  make(plain)->expectNone();
  auto without = [&](std::string text, const std::string &part, const std::string &instead = "") {
    EXPECT_NE(text.find(part), std::string::npos);
    return text.replace(text.find(part), part.size(), instead);
  };
  expect(without(plain, "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, 128;\n"), ReportKind::TensorMemory,
         "no tcgen05.dealloc");
  expect(without(plain, "[tptr], 128", "[tptr], 96"), ReportKind::InvalidOperand, "power of two");
  expect(without(plain, "[tptr], 128", "[tptr], 64"), ReportKind::TensorMemory, "where 64 were allocated");
  expect(without(plain, "@%p0 bra END", "setp.ne.u32 %p4, %r1, 1;\n@%p4 bra END"), ReportKind::TensorMemory,
         "by warp 1");
  expect(without(plain, "[tptr], 128;\n",
                 "[tptr], 128;\ntcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tptr], 32;\n"),
         ReportKind::TensorMemory, "relinquish");
  expect(without(plain, "[tptr], 128;\n",
                 "[tptr], 128;\n"
                 "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tptr], 512;\n"),
         ReportKind::Deadlock, "");
  expect(allocated("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r12+128];\n"), ReportKind::TensorMemory,
         "column 128 is not allocated");
  expect(allocated("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r10];\n"), ReportKind::InvalidOperand,
         "which reaches lanes");
  expect(allocated("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r12];\ntcgen05.wait::ld.sync.aligned;\n"),
         ReportKind::Uninitialized, "tensor memory, lane");
  // The address is in shared memory only after the barrier, even if nothing has to be done.
  std::string early = plain;
  early = without(early, "bar.sync 0;\nld.shared.b32 %r10, [tptr];\n", "ld.shared.b32 %r10, [tptr];\nbar.sync 0;\n");
  expect(early, ReportKind::Race, "");
}

TEST(TensorMemory, reportsMissingWaits) {
  auto expect = [](const std::string &body, ReportKind kind, const std::string &words) {
    make(allocated(body))->expectAlways(kind, words);
  };
  std::string load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%t0}, [%r12];\n";
  // Reading a register waits for the load; writing does not. The columns must not be freed earlier.
  make(allocated(fill() + load + "add.s32 %t1, %t0, 1;\n"))->expectNone();
  make(allocated(fill() + load + "add.s32 %t0, %t0, 1;\n"))->expectNone();
  expect(fill() + load + "mov.b32 %t0, 1;\n", ReportKind::EarlyUse, "overwrites a register that a tcgen05.ld");
  expect(fill() + load, ReportKind::EarlyUse, "tcgen05.ld still reads");
  std::string stored = fill();
  stored.erase(stored.find("tcgen05.wait::st"));
  expect(stored + load + "tcgen05.wait::ld.sync.aligned;\n", ReportKind::EarlyUse, "tcgen05.st still writes");
  // The columns are freed while they are still being written.
  make(allocated(stored))->expectAlways(ReportKind::EarlyUse, "tcgen05.st still writes");
}

TEST(TensorMemory, allocatesForPairs) {
  auto pair = [](const std::string &first, const std::string &last) {
    return ".shared .align 4 .b32 tptr;\n.reg .b32 %t<4>;\nshr.u32 %r1, %r0, 5;\nsetp.ne.u32 %p0, %r1, 0;\n" + first +
           "@%p0 bra READY;\ntcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tptr], 64;\nREADY:\nbar.sync 0;\n"
           "ld.shared.b32 %r10, [tptr];\nbar.sync 0;\n" +
           last + "@%p0 bra END;\ntcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 64;\nEND:\n";
  };
  const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  auto run = [&](const std::string &body) {
    auto kernel = make(body, 64);
    kernel->ctas = kernel->clusterSize = 2;
    return kernel;
  };
  run(pair(meet, meet))->expectNone();
  run(pair("", meet))->expectAlways(ReportKind::TensorMemory, "a cluster barrier must come first");
}

} // namespace
