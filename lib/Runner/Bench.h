// Measures a kernel against a baseline in the same process, in interleaved rounds (Rounds.h). Only the ratio of the two
// figures of one run means anything.
#pragma once

#include "Runner/Rounds.h"
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
  bool isPrecise = false; ///< cuBLAS adds products of 8-bit floats in fp32
};

/// So many rounds after one that does not count; the sizes of rounds, and the state of the card meanwhile, go into
/// `result`.
Status measureContestants(CudaDevice &device, const Stopwatch &watch, std::span<Contestant> contestants, int rounds,
                          bool useGraphs, BenchResult &result);

/// An empty grid is an error.
Status requireWork(const Grid &grid);

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request);

} // namespace tile::runner
