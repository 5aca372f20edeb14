// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures the figures of the card at hand by micro-benchmarks.
#pragma once

#include "Lab/Bench/Stopwatch.h"
#include "Lab/Calibrate/MicroKernels.h"

namespace tile::runner {

/// The duration of one launch of a micro-benchmark, as its CTAs recorded it.
struct MicroTimes {
  double clocks = 0;      ///< of a CTA: the median
  double nanoseconds = 0; ///< of the card: from the first CTA that began until the last one ended
  double clockGHz = 0;    ///< the median
};

/// Returns the value of the kernel's figure.
double valueOf(const MicroKernel &kernel, const MicroTimes &times, double ctas, double iterations);

/// Returns the median, and the range of the middle half in per cent of it.
target::Card::Note spreadOf(std::vector<double> values, double &median);

class CardMeter {
public:
  static Result<CardMeter> create(CudaContext &context, const target::GpuTarget &target);

  /// Fills figure and note. An error of TILE_ERROR_UNSUPPORTED leaves the figure out: the driver rejects the code.
  Status measure(const MicroKernel &kernel, target::Card &card);
  /// Fills `launch`, `cta_rate` and `wave`; uses the figure `clock`.
  Status measureLaunches(target::Card &card);

private:
  CardMeter(CudaContext &context, const target::GpuTarget &target, Stopwatch watch);
  /// A kernel with its launch: function, CTAs, iterations.
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
  size_t dramBytes = 0, l2Bytes = 0; ///< of `data` that benchmarks of DRAM and of L2 use: powers of two
};

} // namespace tile::runner
