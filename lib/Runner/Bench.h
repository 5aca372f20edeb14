// Measures a kernel against a baseline in the same process, in interleaved rounds.
//
// A round is n launches, each between two events and behind a fill of a buffer larger than the L2 cache, so that inputs
// come from memory and the host stays ahead of the device. A round's figure is the median of its launches; the figure
// reported is the median over rounds. Only the ratio of the two figures of one run means anything.
#pragma once

#include "Runner/CudaDevice.h"
#include "Runner/Telemetry.h"
#include "Runner/TensorExpr.h"

namespace tile::runner {

struct BenchResult {
  double microseconds = 0;
  std::vector<double> rounds; ///< microseconds
  int launchesPerRound = 0;
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
  int rounds = 5;
  std::string cublas;
};

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request);

} // namespace tile::runner
