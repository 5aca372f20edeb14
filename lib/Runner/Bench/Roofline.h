// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What binds a kernel: its time beside the time that each of the card's resources would need for the same work.
//
//   resource             the least time that it needs
//   memory               bytes / measured copy bandwidth
//   L2                   bytes that multiprocessors load and store / 64 bytes a clock for each of them
//   tensor cores         FLOPs / measured speed of cuBLAS at 8192^3, of the operands' type
//   special functions    exp, log, sqrt, ... / 16 a clock for each multiprocessor
//   launch               the shortest node of a CUDA graph
//
// The resource with the largest share of the kernel's time binds it, if it has nearly all. Two that add up to that take
// turns. Otherwise it is the tail, where the last wave leaves much of the card idle, and latency elsewhere.
#pragma once

#include "Runner/Results/Report.h"

namespace tile::runner {

/// A number and where it is from.
struct Figure {
  double value = 0;
  bool isMeasured = false; ///< by hardware counters; else modelled
};

/// Why no more thread blocks fit on a multiprocessor.
struct Occupancy {
  int ctasPerSm = 0, warpsPerCta = 0, mostWarps = 0;
  std::string limit; ///< "shared memory"
};

struct RooflineFacts {
  double coldMicroseconds = 0, warmMicroseconds = 0; ///< in graphs: the device's time alone
  Ceilings ceilings;
  double clockMhz = 0; ///< the highest while it ran; 0: not known
  int multiprocessors = 0;
  double leastBytes = 0; ///< inputs once, outputs once
  Figure memoryBytes, l2Bytes;
  Figure flops;
  Figure special;                    ///< operations of the special function units
  std::optional<Figure> tensorShare; ///< of the cycles in which the tensor cores' pipe works, by counters
  std::optional<double> warpsShare;  ///< of the warps that fit, those that were there, by counters
  std::string whyModelled;           ///< why there are no counters; empty: there are
  Occupancy occupancy;
  double programs = 0; ///< pieces of work that do not depend on each other: tiles, or thread blocks
  bool isPersistent = false;

  /// How often the card is filled with programs; its last part may be filled less.
  double waves() const;
  /// Share of the multiprocessors' time that the last wave leaves in use.
  double tailEfficiency() const;
};

struct ResourceShare {
  std::string name;
  double microseconds = 0; ///< the least that it needs
  double share = 0;        ///< of the kernel's time
  bool isMeasured = false; ///< its work, by counters
};

struct RooflineVerdict {
  std::vector<ResourceShare> shares; ///< the largest first
  std::string bound;                 ///< "tensor cores"
  std::string evidence;              ///< the number that shows it
  std::string advice;                ///< one thing to try
};

RooflineVerdict judge(const RooflineFacts &facts);

/// Several lines.
std::string formatRoofline(const RooflineFacts &facts, const RooflineVerdict &verdict);
/// A line of JSON.
std::string rooflineJson(const RunReport &report, const RooflineFacts &facts, const RooflineVerdict &verdict);

/// Bytes of thread blocks' loads and stores, occupancy and programs, as the manifest has them.
void modelKernel(const runtime::Manifest &manifest, const Grid &grid, std::span<const int64_t> slots,
                 const CudaDeviceInfo &device, RooflineFacts &facts);

} // namespace tile::runner
