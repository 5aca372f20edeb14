// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the figures of this machine's GPU with micro-benchmarks.
#pragma once

#include "Lab/Bench/Stopwatch.h"
#include "Lab/Calibrate/MicroKernels.h"

namespace tile::runner {

/// The duration of one launch of a micro-benchmark, as its CTAs recorded it.
struct MicroTimes {
  double clocks = 0;      ///< clock cycles of a CTA (median over CTAs)
  double nanoseconds = 0; ///< global timer: from the start of the first CTA to the end of the last one
  double clockGHz = 0;    ///< clock cycles per nanosecond (median over CTAs)
};

/// Computes the value of the kernel's figure.
double valueOf(const MicroKernel &kernel, const MicroTimes &times, double ctas, double iterations);

/// Returns the interquartile range in percent of the median, and sets `median`.
target::Card::Note spreadOf(std::vector<double> values, double &median);

class CardMeter {
public:
  static Result<CardMeter> create(CudaContext &context, const target::GpuTarget &target);

  /// Measures a figure and its note. Returns TILE_ERROR_UNSUPPORTED if the driver rejects the code; the figure is then
  /// omitted.
  Status measure(const MicroKernel &kernel, target::Card &card);
  /// Measures `launch`, `cta_rate` and `wave`. Requires that the figure `clock` has been measured.
  Status measureLaunches(target::Card &card);

private:
  CardMeter(CudaContext &context, const target::GpuTarget &target, Stopwatch watch);
  /// A kernel that is ready to launch: function and number of CTAs.
  struct Loaded;
  Status fill(const MicroKernel &kernel);
  Status load(const MicroKernel &kernel, Loaded &loaded);
  Result<MicroTimes> run(const Loaded &loaded, uint32_t iterations, bool isChecked);
  Result<uint32_t> chooseIterations(const Loaded &loaded);
  Result<double> launchTime(const Loaded &loaded, unsigned ctas, unsigned sharedBytes, int launches);

  CudaContext *context;
  const target::GpuTarget *target;
  Stopwatch watch;
  CudaMemory out, data;
  /// Sizes of the parts of `data` that benchmarks of DRAM and of L2 use; powers of two.
  size_t dramBytes = 0, l2Bytes = 0;
};

} // namespace tile::runner
