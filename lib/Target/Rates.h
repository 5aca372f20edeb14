// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Peak rates of each target's GPU, for estimates. They come from data sheets; none is measured.
//
//   Rates rates = ratesOf(*findTarget("sm_90a"));
//   rates.multiplyAdds(16)      // 2048 per clock and multiprocessor: 989 TFLOP/s at 1.83 GHz and 132 multiprocessors
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

struct Rates {
  double clockGHz;       ///< boost clock
  double memory;         ///< GB/s
  double l2;             ///< MB of cache that all multiprocessors share
  double multiplyAdds16; ///< dense, with 16-bit operands and fp32 accumulators, per clock and multiprocessor
  double lanes = 128;    ///< fp32 operations per clock and multiprocessor
  double special = 16;   ///< exp2, rcp, …: CUDA programming guide, "Arithmetic Instructions"
  double ingest = 64;    ///< bytes per clock from L2 to a multiprocessor: its port to the crossbar
  double latency = 700;  ///< cycles of a load that misses L1, approximately, on Hopper
  double shared = 128;   ///< bytes per clock
  double dispatched = 1; ///< CTAs that the device starts per clock
  /// Like multiplyAdds16, but for loops with mma.sync: half of wgmma's rate on Hopper. (A loop that contains only
  /// mma.sync reaches two thirds of it.)
  double ofMmaSync16 = 1024;

  /// Returns the rate of the tensor cores. It halves if operands are twice as wide.
  double multiplyAdds(unsigned operandBits) const { return multiplyAdds16 * 16 / (operandBits ? operandBits : 16); }
};

Rates ratesOf(const GpuTarget &target);

/// Returns the size in bits of a type, given its name in PTX: "f16" 16, "e4m3" 8, "tf32" 32.
unsigned operandBits(std::string_view type);

} // namespace tile::target
