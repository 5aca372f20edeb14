// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures a kernel against baselines (Baselines.h) in the same process, in interleaved rounds (Rounds.h). Only the
// ratio of figures of one run means anything.
#pragma once

#include "Runner/Bench/Ceilings.h"
#include "Runner/Bench/Rounds.h"
#include "Runner/Bench/Telemetry.h"
#include "Runner/Check/Gemm.h"
#include "Runner/Check/TensorExpr.h"

namespace tile::runner {

/// A figure beside the kernel's.
struct BaselineTime {
  std::string name;    ///< "cuBLAS 13.0.2", "device copy"; empty: none could be had
  std::string note;    ///< why there is none
  std::string command; ///< of a recorded time: what measured it, elsewhere
  bool isRecorded = false;
  double microseconds = 0;
  std::vector<double> rounds;
  double difference = -1; ///< ||ours - theirs|| / ||theirs||; negative: not compared
  std::optional<double> millijoules;
};

/// The card while the kernel ran.
struct CardState {
  TelemetrySample last;
  unsigned lowestClockMhz = 0, highestClockMhz = 0;
  uint64_t slowdowns = 0; ///< of any round, see slowdownText
  int slowedRounds = 0, rounds = 0;
};

struct BenchResult {
  double microseconds = 0;
  std::vector<double> rounds; ///< microseconds
  int samplesPerRound = 0;
  int launchesPerGraph = 0; ///< of one sample that replays a graph; 0: each sample is one launch
  bool isCold = true;       ///< the inputs are not in the L2 cache
  std::vector<BaselineTime> baselines;
  double flops = 0;                    ///< as requested, or of matrix products in the expectation; 0: count bytes
  double bytes = 0;                    ///< inputs read once plus outputs written once
  std::optional<DataType> productType; ///< of the first product's operands
  std::optional<CardState> card;
  std::optional<double> millijoules; ///< a launch, of launches back to back
  std::optional<Ceilings> ceilings;

  /// The first baseline that was measured or recorded; null if there is none.
  const BaselineTime *baseline() const;
  /// Above 1: faster than the baseline.
  double ratio(const BaselineTime &other) const { return microseconds > 0 ? other.microseconds / microseconds : 0; }
};

struct RunOptions;

struct BenchRequest {
  const runtime::Manifest *manifest = nullptr;
  const RunOptions *options = nullptr;
  std::string label;        ///< of a suite's case
  std::string argumentText; ///< "M=512 N=512"
  Grid grid = {1, 1, 1};
  std::span<DeviceArgument> arguments;
  const TensorNames *names = nullptr; ///< the buffers, for recognising a matrix product
  int rounds = 11;
  bool useGraphs = false;
  bool isCold = true;
  bool measuresEnergy = false;
  std::optional<double> flops;        ///< of a launch; none: those of the products in the expectation
  std::vector<std::string> baselines; ///< as of --baseline; none: the natural one
  std::string cublas;
  bool isPrecise = false; ///< cuBLAS adds products of 8-bit floats in fp32
};

/// What the expectations of a kernel say about its work.
struct Workload {
  double flops = 0, bytes = 0;
  double special = 0; ///< exp, log, sqrt and the like, one for each element of each
  std::optional<DataType> productType;
  std::optional<GemmPlan> plan; ///< if the first expectation that cuBLAS could compute is one product
};
Result<Workload> findWorkload(const runtime::Manifest &manifest, std::span<const DeviceArgument> arguments,
                              const TensorNames &names);

/// So many rounds after one that does not count; the sizes of rounds, and the state of the card meanwhile, go into
/// `result`.
Status measureContestants(CudaDevice &device, const Stopwatch &watch, std::span<Contestant> contestants,
                          const BenchRequest &request, BenchResult &result);

/// An empty grid is an error.
Status requireWork(const Grid &grid);

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request);

} // namespace tile::runner
