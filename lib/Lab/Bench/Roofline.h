// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determines the bottleneck of a kernel: compares its time with the time that each resource of the GPU needs for the
// same work.
//
//   resource             minimum time
//   memory               bytes / measured copy bandwidth
//   L2                   bytes that multiprocessors load and store / 64 bytes per cycle and multiprocessor
//   tensor cores         FLOPs / measured cuBLAS throughput at 8192^3, for the operand type
//   special functions    exp, log, sqrt, ... / 16 per cycle and multiprocessor
//   launch               the shortest possible node of a CUDA graph
//
// If the resource with the largest share of the kernel's time accounts for almost all of it, this resource is the
// bottleneck. If two resources together account for almost all of it, they alternate. Otherwise the bottleneck is the
// tail if the last wave leaves much of the GPU idle. If it does not, the bottleneck is latency.
#pragma once

#include "Runner/Device/CudaDevice.h"
#include "Runner/Results/Report.h"

namespace tile::runner {

/// A value and its origin.
struct Figure {
  double value = 0;
  bool isMeasured = false; ///< true: from hardware counters; false: modelled
};

/// Occupancy, and the resource that limits it.
struct Occupancy {
  int ctasPerSm = 0, warpsPerCta = 0, maxWarps = 0;
  std::string limit; ///< "shared memory"
};

struct RooflineFacts {
  double coldMicroseconds = 0, warmMicroseconds = 0; ///< in graphs: device time only
  Ceilings ceilings;
  double clockMhz = 0; ///< maximum clock rate during the measurement; 0: unknown
  int multiprocessors = 0;
  double minBytes = 0; ///< size of the inputs plus size of the outputs
  Figure memoryBytes, l2Bytes;
  Figure flops;
  Figure special;                    ///< operations of the special function units
  std::optional<Figure> tensorShare; ///< from counters: share of cycles in which the tensor pipe is active
  std::optional<double> warpsShare;  ///< from counters: active warps as a share of the maximum
  std::string whyModelled;           ///< reason why there are no counters; empty: there are counters
  Occupancy occupancy;
  double programs = 0; ///< independent work items: tiles, or thread blocks
  bool isPersistent = false;

  /// Returns the number of waves of programs; the last one may be partial.
  double waves() const;
  /// Returns the share of the multiprocessors' time that is used; a partial last wave reduces it.
  double tailEfficiency() const;
};

struct ResourceShare {
  std::string name;
  double microseconds = 0; ///< minimum time that the resource needs
  double share = 0;        ///< share of the kernel's time
  bool isMeasured = false; ///< true if counters measured its work
};

struct RooflineVerdict {
  std::vector<ResourceShare> shares; ///< largest first
  std::string bound;                 ///< "tensor cores"
  std::string evidence;              ///< the measured counter that supports the verdict
  std::string advice;                ///< what to try
};

RooflineVerdict judge(const RooflineFacts &facts);

/// Formats the verdict as several lines.
std::string formatRoofline(const RooflineFacts &facts, const RooflineVerdict &verdict);
/// Formats the verdict as one line of JSON.
std::string rooflineJson(const RunReport &report, const RooflineFacts &facts, const RooflineVerdict &verdict);

/// Computes from the manifest the bytes that thread blocks load and store, the occupancy and the number of programs.
void modelKernel(const runtime::Manifest &manifest, const Grid &grid, std::span<const int64_t> slots,
                 const CudaDeviceInfo &device, RooflineFacts &facts);

} // namespace tile::runner
