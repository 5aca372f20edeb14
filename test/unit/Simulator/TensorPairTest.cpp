// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta_group::2: one MMA of two CTAs, each of which has half of A, of B and of D; copies that signal the leader.
#include "TensorKernel.h"

#include "Simulator/Exec/Async/TensorMap.h"

using namespace tile::sim;

namespace {

int leftAt(unsigned row, unsigned k) {
  return int((row * 7 + k * 3) % 11) - 5;
}
int rightAt(unsigned k, unsigned column) {
  return int((k * 5 + column * 2) % 7) - 3;
}
uint16_t halfOf(int value) {
  _Float16 half = _Float16(value);
  uint16_t bits;
  std::memcpy(&bits, &half, sizeof(bits));
  return bits;
}

constexpr unsigned n = 32, depth = 16, imageBytes = 8192, rightStart = 4096;

/// Both CTAs copy their half of the input to shared memory; the leader multiplies, and both store their 128 lanes.
struct PairKernel {
  unsigned m = 256;
  std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  std::string beforeAlloc = meet;
  std::string beforeMma = meet; ///< both CTAs have filled their shared memory
  std::string waitForMma = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n";
  std::string atEnd = meet;
  std::string arrivalOfPeer; ///< executed by thread 0 of the other CTA instead of beforeMma
  std::string waitOfLeader;

  unsigned columns() const { return m == 256 ? n : n / 2; }
  std::string body() const {
    const uint32_t descriptor = 1 << 4 | n / 8 << 17 | m / 16 << 24;
    std::string text =
        ".shared .align 8 .b64 bar;\n.shared .align 8 .b64 ready;\n.shared .align 4 .b32 tptr;\n.reg .b32 %t<40>;\n"
        "mov.u32 %r20, %cluster_ctarank;\nsetp.ne.u32 %p4, %r20, 0;\nshr.u32 %r1, %r0, 5;\n"
        "setp.ne.u32 %p0, %r1, 0;\nsetp.ne.u32 %p1, %r0, 0;\nmov.u32 %r11, data;\nmov.u32 %r21, ready;\n"
        "shl.b32 %r2, %r0, 4;\nshl.b32 %r3, %r20, 13;\nadd.s32 %r3, %r3, %r2;\ncvt.u64.u32 %d2, %r3;\n"
        "add.s64 %d3, %d0, %d2;\nadd.s32 %r3, %r11, %r2;\nmov.b32 %r4, 0;\n"
        "COPY:\nld.global.v4.b32 {%t0, %t1, %t2, %t3}, [%d3];\nst.shared.v4.b32 [%r3], {%t0, %t1, %t2, %t3};\n"
        "add.s64 %d3, %d3, 2048;\nadd.s32 %r3, %r3, 2048;\nadd.s32 %r4, %r4, 2048;\n"
        "setp.lt.u32 %p3, %r4, 8192;\n@%p3 bra COPY;\nfence.proxy.async.shared::cta;\n"
        "@%p1 bra INITIALISED;\nmbarrier.init.shared::cta.b64 [bar], 1;\nmbarrier.init.shared::cta.b64 [ready], 1;\n"
        "fence.mbarrier_init.release.cluster;\nINITIALISED:\nbar.sync 0;\n" +
        beforeAlloc +
        "@%p0 bra ALLOCATED;\ntcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [tptr], 32;\nALLOCATED:\n"
        "bar.sync 0;\nld.shared.b32 %r10, [tptr];\nshl.b32 %r12, %r1, 21;\nadd.s32 %r12, %r12, %r10;\n" +
        beforeMma + arrivalOfPeer + "@%p4 bra ISSUED;\n@%p1 bra ISSUED;\n" + waitOfLeader +
        "shr.u32 %r5, %r11, 4;\ncvt.u64.u32 %d4, %r5;\nadd.s64 %d10, %d4, " +
        std::to_string(int64_t(TensorKernel::bits(0, 128, 256, 0))) + ";\nadd.s64 %d11, %d4, " +
        std::to_string(int64_t(TensorKernel::bits(rightStart, 128, 256, 0))) +
        ";\ntcgen05.mma.cta_group::2.kind::f16 [%r10], %d10, %d11, " + std::to_string(descriptor) +
        ", 0;\nmov.b16 %h0, 3;\n"
        "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [bar], "
        "%h0;\nISSUED:\n" +
        waitForMma + "mul.lo.u32 %r6, %r0, " + std::to_string(4 * columns()) + ";\nmul.lo.u32 %r7, %r20, " +
        std::to_string(512 * columns()) + ";\nadd.s32 %r6, %r6, %r7;\ncvt.u64.u32 %d5, %r6;\nadd.s64 %d5, %d1, %d5;\n";
    for (unsigned column = 0; column < columns(); column += 8) {
      text += "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7}, [%r12+" +
              std::to_string(column) + "];\ntcgen05.wait::ld.sync.aligned;\n";
      for (unsigned i = 0; i < 8; ++i)
        text += "st.global.b32 [%d5+" + std::to_string(4 * (column + i)) + "], %t" + std::to_string(i) + ";\n";
    }
    return text + "bar.sync 0;\n" + atEnd +
           "@%p0 bra END;\ntcgen05.dealloc.cta_group::2.sync.aligned.b32 %r10, 32;\nEND:\n";
  }

  std::unique_ptr<SimulatedKernel> make() const {
    auto kernel = std::make_unique<SimulatedKernel>(
        body(), 2, "", SimulatedKernel::Setup{"9.0", "sm_100a", imageBytes, 2 * 128 * n * 4});
    kernel->threads = 128;
    kernel->ctas = kernel->clusterSize = 2;
    kernel->input.resize(2 * imageBytes);
    const unsigned rows = m / 2;
    for (unsigned cta = 0; cta < 2; ++cta) {
      std::byte *image = kernel->input.data() + cta * imageBytes;
      for (unsigned k = 0; k < depth; ++k) {
        auto put = [&](unsigned start, unsigned line, int value) {
          const uint16_t bits = halfOf(value);
          std::memcpy(image + start + line / 8 * 256 + k / 8 * 128 + line % 8 * 16 + k % 8 * 2, &bits, sizeof(bits));
        };
        for (unsigned row = 0; row < rows; ++row)
          put(0, row, leftAt(cta * rows + row, k));
        for (unsigned column = 0; column < n / 2; ++column)
          put(rightStart, column, rightAt(k, cta * (n / 2) + column));
      }
    }
    return kernel;
  }

  void expectProduct(const SimulatedKernel &kernel) const {
    auto *values = reinterpret_cast<const float *>(kernel.buffers[1].data());
    const unsigned rows = m / 2;
    for (unsigned row = 0; row < m; ++row)
      for (unsigned column = 0; column < n; ++column) {
        float sum = 0;
        for (unsigned k = 0; k < depth; ++k)
          sum += float(leftAt(row, k) * rightAt(k, column));
        const unsigned lane = row % rows + (m == 256 ? 0 : column / (n / 2) * 64),
                       at = m == 256 ? column : column % (n / 2);
        ASSERT_EQ(values[row / rows * 128 * columns() + lane * columns() + at], sum) << row << ", " << column;
      }
  }
};

TEST(TensorPair, multipliesTogether) {
  for (unsigned m : {256u, 128u}) {
    PairKernel text;
    text.m = m;
    auto kernel = text.make();
    kernel->expectNone();
    text.expectProduct(*kernel);
  }
}

TEST(TensorPair, reportsWhatDoesNotWaitForThePeer) {
  PairKernel text;
  text.beforeMma = ""; // the finding depends on the order
  auto kernel = text.make();
  for (uint64_t seed = 0; seed < 12; ++seed)
    EXPECT_FALSE(kernel->run(seed).empty()) << seed;
  text = {};
  text.atEnd = ""; // a CTA frees its columns, and its shared memory, only after its own wait, which is correct
  text.make()->expectNone();
  text.waitForMma = "@%p4 bra NOWAIT;\n" + text.waitForMma + "NOWAIT:\nbar.sync 0;\n";
  text.make()->expectAlways(ReportKind::EarlyUse, "tcgen05.mma still writes");
}

/// The other CTA signals through an mbarrier of the leader that its half is ready: with cluster scope, otherwise it is
/// not visible.
TEST(TensorPair, mbarriersBetweenCtasNeedClusterScope) {
  for (const char *order : {".release.cluster", "", ".release.cta"}) {
    PairKernel text;
    text.beforeMma = "";
    text.arrivalOfPeer = "@!%p4 bra ARRIVED;\n@%p1 bra ARRIVED;\nmapa.shared::cluster.u32 %r22, %r21, 0;\n"
                         "mbarrier.arrive" +
                         std::string(order) + ".shared::cluster.b64 _, [%r22];\nARRIVED:\n";
    text.waitOfLeader =
        "READY:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p5, [ready], 0;\n@!%p5 bra READY;\n";
    // The cluster barrier before the allocation would order the copies, too.
    std::string body = text.body();
    const size_t copy = body.find("COPY:"), end = body.find("@%p1 bra INITIALISED");
    const std::string copies = body.substr(copy, end - copy);
    body.erase(copy, end - copy);
    body.insert(body.find("@!%p4 bra ARRIVED"), copies + "bar.sync 0;\n");
    SimulatedKernel kernel(body, 2, "", {"9.0", "sm_100a", imageBytes, 2 * 128 * n * 4});
    kernel.threads = 128;
    kernel.ctas = kernel.clusterSize = 2;
    kernel.input = text.make()->input;
    if (order == std::string(".release.cluster")) {
      kernel.expectNone();
      text.expectProduct(kernel);
    } else {
      kernel.expectAlways(ReportKind::MissingFence, "cluster scope");
    }
  }
}

/// Each CTA loads a row of 64 bytes; both copies signal the barrier of the even CTA.
TEST(TensorPair, tensorCopiesSignalTheLeader) {
  GlobalMemory memory;
  std::byte byte;
  TensorMap map;
  map.address = memory.add("x", &byte, 1);
  map.rank = 2;
  map.type = MapType::U32;
  map.sizes[0] = map.sizes[1] = 16;
  map.box[0] = 16;
  map.box[1] = 1;
  map.strides[0] = 64;
  map.elementStrides[0] = map.elementStrides[1] = 1;
  const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  auto body = [&](const std::string &group, const std::string &mode, const std::string &coordinates, unsigned bytes) {
    return ".shared .align 8 .b64 bar;\nmov.u32 %r20, %cluster_ctarank;\nsetp.ne.u32 %p4, %r20, 0;\n"
           "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra READY;\nmbarrier.init.shared::cta.b64 [bar], 1;\n"
           "fence.mbarrier_init.release.cluster;\nREADY:\n" +
           meet +
           "@%p1 bra LOADED;\nmov.u32 %r21, bar;\nand.b32 %r21, %r21, 0xfeffffff;\nmov.u32 %r22, data;\n"
           "@%p4 bra EXPECTED;\nmbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], " +
           std::to_string(bytes) +
           ";\nEXPECTED:\nadd.s32 %r23, %r20, 3;\n"
           "cp.async.bulk.tensor.2d.shared::cluster.global." +
           mode + ".mbarrier::complete_tx::bytes" + group + " [%r22], [%d1, " + coordinates +
           "], [%r21];\n@%p4 bra LOADED;\nWAIT:\n"
           "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\nLOADED:\n" +
           meet +
           "setp.ge.u32 %p3, %r0, 16;\n@%p3 bra END;\nshl.b32 %r1, %r0, 2;\nadd.s32 %r2, %r22, %r1;\nmov.u32 %r2, "
           "data;\n"
           "add.s32 %r2, %r2, %r1;\nld.shared.b32 %r3, [%r2];\nshl.b32 %r4, %r20, 6;\nadd.s32 %r4, %r4, %r1;\n"
           "cvt.u64.u32 %d3, %r4;\nadd.s64 %d3, %d2, %d3;\nst.global.b32 [%d3], %r3;\nEND:\n" +
           meet;
  };
  auto make = [&](const std::string &text) {
    auto kernel = std::make_unique<SimulatedKernel>(text, 3, "", SimulatedKernel::Setup{"9.0", "sm_100a", 1024, 4096});
    kernel->threads = 32;
    kernel->ctas = kernel->clusterSize = 2;
    kernel->clearsBuffers = false;
    for (uint32_t i = 0; i < 256; ++i)
      std::memcpy(kernel->buffers[0].data() + 4 * i, &i, sizeof(i));
    const tile::runtime::Result<TensorMapBytes> bytes = encodeTensorMap(map);
    EXPECT_TRUE(bool(bytes));
    std::memcpy(kernel->buffers[1].data(), bytes->data(), tensorMapBytes);
    return kernel;
  };
  auto kernel = make(body(".cta_group::2", "tile", "{0, %r23}", 128));
  kernel->expectNone();
  auto *words = reinterpret_cast<const uint32_t *>(kernel->buffers[2].data());
  for (unsigned cta = 0; cta < 2; ++cta)
    for (unsigned i = 0; i < 16; ++i)
      EXPECT_EQ(words[cta * 16 + i], (3 + cta) * 16 + i);
  make(body("", "tile", "{0, %r23}", 128))->expectAlways(ReportKind::InvalidOperand, "different CTAs");
  // ptxas accepts the suffix before the destination, too.
  std::string early = body(".cta_group::2", "tile", "{0, %r23}", 128);
  early.replace(early.find(".2d.shared::cluster"), 3, ".2d.cta_group::2");
  early.erase(early.find(".cta_group::2 "), 13);
  make(early)->expectNone();

  // Gather four rows by their indices; the first of them is stored.
  kernel = make(body(".cta_group::2", "tile::gather4", "{0, %r23, 9, 1, 0}", 512));
  kernel->expectNone();
  words = reinterpret_cast<const uint32_t *>(kernel->buffers[2].data());
  for (unsigned cta = 0; cta < 2; ++cta)
    for (unsigned i = 0; i < 16; ++i)
      EXPECT_EQ(words[cta * 16 + i], (3 + cta) * 16 + i);
}

/// Two clusters run. Each adds one to a word for each of the other six that it has taken over.
TEST(TensorPair, clustersTakeOverWork) {
  const std::string body =
      ".shared .align 8 .b64 bar;\n.shared .align 16 .b8 response[16];\n.reg .b128 %q<2>;\n"
      "mov.u32 %r1, %ctaid.x;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra END;\n"
      "mbarrier.init.shared::cta.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\nmov.b32 %r5, 0;\n"
      "WORK:\nshl.b32 %r2, %r1, 2;\ncvt.u64.u32 %d1, %r2;\nadd.s64 %d1, %d0, %d1;\n"
      "ld.global.b32 %r3, [%d1];\nadd.s32 %r3, %r3, 1;\nst.global.b32 [%d1], %r3;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 16;\n"
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [bar];\n"
      "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], %r5;\n@!%p2 bra WAIT;\nxor.b32 %r5, %r5, 1;\n"
      "ld.shared.b128 %q0, [response];\nfence.proxy.async.shared::cta;\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %q0;\n@!%p3 bra END;\n"
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r6, %r7, _}, %q0;\n"
      "bra WORK;\nEND:\n";
  SimulatedKernel kernel(body, 1, "", {"9.0", "sm_100a", 1024, 4096});
  kernel.threads = 32;
  kernel.ctas = 40;
  kernel.expectNone();
  auto *counts = reinterpret_cast<const uint32_t *>(kernel.buffers[0].data());
  for (unsigned i = 0; i < 40; ++i)
    EXPECT_EQ(counts[i], 1u) << i;
  std::string wrong = body;
  wrong.replace(wrong.find("ld.shared.b128 %q0"), 0, "");
  wrong.erase(wrong.find("WAIT:"), wrong.find("xor.b32") - wrong.find("WAIT:"));
  SimulatedKernel early(wrong, 1, "", {"9.0", "sm_100a", 1024, 4096});
  early.threads = 32;
  early.ctas = 40;
  early.expectAlways(ReportKind::EarlyUse, "");
}

} // namespace
