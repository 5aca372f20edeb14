// Measures a kernel against a baseline in the same process, in interleaved rounds.
//
// A round is n samples: launches with a cold L2 cache, or replays of a CUDA graph of many launches (Stopwatch.h). A
// round's figure is the median of its samples; the figure reported is the median over rounds. Only the ratio of the two
// figures of one run means anything.
#pragma once

#include "Runner/CudaDevice.h"
#include "Runner/Telemetry.h"
#include "Runner/TensorExpr.h"

namespace tile::runner {

struct BenchResult {
  double microseconds = 0;
  std::vector<double> rounds; ///< microseconds
  int samplesPerRound = 0;
  int launchesPerGraph = 0; ///< of one sample that replays a graph; 0: each sample is one launch with a cold L2 cache
  std::string baseline;     ///< "cuBLAS 13.0.2", "device copy"; empty: none could be had
  std::string baselineNote; ///< why there is none
  double baselineMicroseconds = 0;
  std::vector<double> baselineRounds;
  double flops = 0;                 ///< of matrix products in the expectation; 0: count bytes
  double bytes = 0;                 ///< inputs read once plus outputs written once
  double differenceToBaseline = -1; ///< ||ours - cuBLAS|| / ||cuBLAS||; negative: not compared
  std::optional<TelemetrySample> telemetry;

  /// Above 1: faster than the baseline.
  double ratio() const { return microseconds > 0 ? baselineMicroseconds / microseconds : 0; }
};

struct BenchRequest {
  const runtime::Manifest *manifest = nullptr;
  Grid grid = {1, 1, 1};
  std::span<DeviceArgument> arguments;
  const TensorNames *names = nullptr; ///< the buffers, for recognising a matrix product
  int rounds = 11;
  bool useGraphs = false;
  std::string cublas;
};

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request);

} // namespace tile::runner
