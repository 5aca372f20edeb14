// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What each target's product does at best, for estimates that a page shows: rates of data sheets, not measured ones.
//
//   Rates rates = ratesOf(*findTarget("sm_90a"));
//   rates.multiplyAdds(16)      // 2048 a clock and multiprocessor: 989 TFLOP/s at 1.83 GHz and 132 multiprocessors
#pragma once

#include "Target/GpuTarget.h"

namespace tile::target {

struct Rates {
  double clockGHz;      ///< boost
  double memory;        ///< GB/s
  double l2;            ///< MB of cache that all multiprocessors share
  double products16;    ///< multiply-adds a clock and multiprocessor of 16-bit operands with fp32 accumulators, dense
  double lanes = 128;   ///< fp32 operations a clock and multiprocessor
  double special = 16;  ///< exp2, rcp, …: CUDA programming guide, "Arithmetic Instructions"
  double ingest = 64;   ///< bytes a clock from L2 to a multiprocessor: its port to the crossbar
  double latency = 700; ///< clocks of a load that misses L1: about, on Hopper
  double shared = 128;  ///< bytes a clock

  /// Of tensor cores: half as many operands twice as wide.
  double multiplyAdds(unsigned operandBits) const { return products16 * 16 / (operandBits ? operandBits : 16); }
};

Rates ratesOf(const GpuTarget &target);

/// Of a type's name in PTX: "f16" 16, "e4m3" 8, "tf32" 32.
unsigned operandBits(std::string_view type);

} // namespace tile::target
