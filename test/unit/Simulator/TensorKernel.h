// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A test kernel with one tcgen05.mma, in parts that a test may change or remove.
#pragma once

#include "SimulatedKernel.h"

namespace tile::sim {

/// 128 threads copy `sharedBytes` of the first buffer to `data`, allocate tensor memory, multiply, and store the
/// accumulator's columns to the second buffer: thread t stores words t * columns … of lane t.
struct TensorKernel {
  static constexpr unsigned threads = 128;
  unsigned sharedBytes = 16384, columns = 16; ///< columns to load at the end, a multiple of 8
  unsigned allocated = 64;
  std::string target = "sm_100a";

  std::string proxyFence = "fence.proxy.async.shared::cta;\n";
  std::string allocation = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [tptr], ALLOCATED;\n"
                           "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
  std::string beforeFence = "tcgen05.fence::before_thread_sync;\n";
  std::string barrier = "bar.sync 0;\n";
  std::string afterFence = "tcgen05.fence::after_thread_sync;\n";
  std::string beforeMma; ///< executed by all threads; the address of tensor memory is in %r10, that of `data` in %r11
  std::string mma;       ///< executed by thread 0; %d10 is the descriptor of A, %d11 that of B
  std::string commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n";
  std::string wait = "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n";
  std::string waitFence = "tcgen05.fence::after_thread_sync;\n";
  std::string waitLoad = "tcgen05.wait::ld.sync.aligned;\n";
  std::string lastBarrier = "bar.sync 0;\n";
  std::string dealloc = "@%p0 bra END;\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r10, ALLOCATED;\nEND:\n";
  uint64_t left = 0, right = 0; ///< descriptors, without the address of `data`

  std::string body() const {
    std::string text =
        ".shared .align 8 .b64 bar;\n.shared .align 4 .b32 tptr;\n.reg .b32 %t<64>;\n"
        "shr.u32 %r1, %r0, 5;\n"
        "setp.ne.u32 %p0, %r1, 0;\n" // executed by all warps but warp 0
        "setp.ne.u32 %p1, %r0, 0;\n" // executed by all threads but thread 0
        "mov.u32 %r11, data;\n"
        "shl.b32 %r2, %r0, 4;\ncvt.u64.u32 %d2, %r2;\nadd.s64 %d3, %d0, %d2;\nadd.s32 %r3, %r11, %r2;\n"
        "mov.b32 %r4, 0;\n"
        "COPY:\nld.global.v4.b32 {%t0, %t1, %t2, %t3}, [%d3];\n"
        "st.shared.v4.b32 [%r3], {%t0, %t1, %t2, %t3};\n"
        "add.s64 %d3, %d3, 2048;\nadd.s32 %r3, %r3, 2048;\nadd.s32 %r4, %r4, 2048;\n"
        "setp.lt.u32 %p3, %r4, " +
        std::to_string(sharedBytes) + ";\n@%p3 bra COPY;\n" + proxyFence + "@%p0 bra ALLOCATED_;\n" + allocation +
        "ALLOCATED_:\n@%p1 bra READY;\nmbarrier.init.shared::cta.b64 [bar], 1;\n"
        "fence.mbarrier_init.release.cluster;\nREADY:\n" +
        beforeFence + barrier + afterFence + "ld.shared.b32 %r10, [tptr];\n" +
        "shl.b32 %r12, %r1, 21;\nadd.s32 %r12, %r12, %r10;\n" // the lanes of the warp
        + beforeMma + "@%p1 bra ISSUED;\n" + "shr.u32 %r5, %r11, 4;\ncvt.u64.u32 %d4, %r5;\n" +
        descriptor("%d10", left) + descriptor("%d11", right) + mma + commit + "ISSUED:\n" + wait + waitFence +
        "mul.lo.u32 %r6, %r0, " + std::to_string(4 * columns) + ";\ncvt.u64.u32 %d5, %r6;\nadd.s64 %d5, %d1, %d5;\n";
    for (unsigned column = 0; column < columns; column += 8) {
      text += "tcgen05.ld.sync.aligned.32x32b.x8.b32 {%t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7}, [%r12+" +
              std::to_string(column) + "];\n" + waitLoad;
      for (unsigned i = 0; i < 8; i += 4)
        text += "st.global.v4.b32 [%d5+" + std::to_string(4 * (column + i)) + "], {%t" + std::to_string(i) + ", %t" +
                std::to_string(i + 1) + ", %t" + std::to_string(i + 2) + ", %t" + std::to_string(i + 3) + "};\n";
    }
    text += lastBarrier + dealloc;
    for (size_t at; (at = text.find("ALLOCATED;")) != std::string::npos;)
      text.replace(at, 9, std::to_string(allocated));
    return text;
  }

  /// Returns the descriptor bits of tcgen05; `swizzle` is 0, 1 (128 bytes in chunks of 32), 2 (128), 4 (64), 6 (32).
  static uint64_t bits(uint64_t start, uint64_t leading, uint64_t stride, uint64_t swizzle) {
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | uint64_t(1) << 46 | swizzle << 61;
  }

  std::unique_ptr<SimulatedKernel> make() const {
    SimulatedKernel::Setup setup{"9.0", target, sharedBytes, std::max(sharedBytes, threads * columns * 4)};
    auto kernel = std::make_unique<SimulatedKernel>(body(), 2, "", setup);
    kernel->threads = threads;
    kernel->input.resize(sharedBytes);
    return kernel;
  }

private:
  static std::string descriptor(const std::string &name, uint64_t bits) {
    return "add.s64 " + name + ", %d4, " + std::to_string(int64_t(bits)) + ";\n";
  }
};

} // namespace tile::sim
