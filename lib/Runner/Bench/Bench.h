// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures a kernel against baselines (Baselines.h) in the same process, in interleaved rounds (Rounds.h). Only ratios
// of figures of the same run are meaningful.
#pragma once

#include "Runner/Bench/Ceilings.h"
#include "Runner/Bench/Rounds.h"
#include "Runner/Bench/Telemetry.h"
#include "Runner/Check/Gemm.h"
#include "Runner/Check/TensorExpr.h"

namespace tile::runner {

/// The measurement of a baseline.
struct BaselineTime {
  std::string name;    ///< "cuBLAS 13.0.2", "device copy"; empty: none available
  std::string note;    ///< reason if there is none
  std::string command; ///< recorded time: the command that measured it
  bool isRecorded = false;
  double microseconds = 0;
  std::vector<double> rounds;
  double difference = -1; ///< ||ours - theirs|| / ||theirs||; negative: not compared
  std::optional<double> millijoules;
};

/// The state of the GPU while the kernel ran.
struct CardState {
  TelemetrySample last;
  unsigned lowestClockMhz = 0, highestClockMhz = 0;
  uint64_t slowdowns = 0; ///< union over all rounds, see slowdownText
  int slowedRounds = 0, rounds = 0;
};

struct BenchResult {
  double microseconds = 0;
  std::vector<double> rounds; ///< microseconds
  int samplesPerRound = 0;
  int launchesPerGraph = 0; ///< per sample, which replays a graph; 0: each sample is one launch
  bool isCold = true;       ///< the inputs are not in the L2 cache
  std::vector<BaselineTime> baselines;
  double flops = 0;                    ///< as requested, or those of the GEMMs in the expectation; 0: count bytes
  double bytes = 0;                    ///< inputs read once plus outputs written once
  std::optional<DataType> productType; ///< operand type of the first GEMM
  std::optional<CardState> card;
  std::optional<double> millijoules; ///< per launch, of back-to-back launches
  std::optional<Ceilings> ceilings;

  /// Returns the first baseline that was measured or recorded; null if there is none.
  const BaselineTime *baseline() const;
  /// Returns the speedup: above 1 if the kernel is faster than the baseline.
  double ratio(const BaselineTime &other) const { return microseconds > 0 ? other.microseconds / microseconds : 0; }
};

struct RunOptions;

struct BenchRequest {
  const runtime::Manifest *manifest = nullptr;
  const RunOptions *options = nullptr;
  std::string label;        ///< name of the case in its suite
  std::string argumentText; ///< "M=512 N=512"
  Grid grid = {1, 1, 1};
  std::span<DeviceArgument> arguments;
  const TensorNames *names = nullptr; ///< buffers, to recognise a GEMM
  int rounds = 11;
  bool useGraphs = false;
  bool isCold = true;
  bool measuresEnergy = false;
  std::optional<double> flops;        ///< per launch; none: those of the GEMMs in the expectation
  std::vector<std::string> baselines; ///< values of --baseline; none: the default
  std::string cublas;
  bool isPrecise = false; ///< cuBLAS accumulates 8-bit floats in fp32
};

/// The work of a kernel according to its expectations.
struct Workload {
  double flops = 0, bytes = 0;
  double special = 0; ///< exp, log, sqrt and the like, one operation per element
  std::optional<DataType> productType;
  std::optional<GemmPlan> plan; ///< set if the first expectation that cuBLAS can compute is a single GEMM
};
Result<Workload> findWorkload(const runtime::Manifest &manifest, std::span<const DeviceArgument> arguments,
                              const TensorNames &names);

/// Measures the given number of rounds after a warm-up round. Stores the sizes of rounds and the state of the GPU in
/// `result`.
Status measureContestants(CudaDevice &device, const Stopwatch &watch, std::span<Contestant> contestants,
                          const BenchRequest &request, BenchResult &result);

/// Fails for an empty grid.
Status requireWork(const Grid &grid);

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request);

} // namespace tile::runner
