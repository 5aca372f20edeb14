// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures a kernel against baselines (Baselines.h) in the same process, in interleaved rounds (Rounds.h). Only ratios
// of times from the same run are meaningful.
#pragma once

#include "Lab/Bench/Ceilings.h"
#include "Lab/Bench/Rounds.h"
#include "Lab/Bench/Telemetry.h"
#include "Runner/Check/Gemm.h"
#include "Runner/Check/TensorExpr.h"
#include "Runner/Results/Measurement.h"

namespace tile::runner {

struct RunOptions;

struct BenchRequest {
  const runtime::Manifest *manifest = nullptr;
  const RunOptions *options = nullptr;
  std::string label;        ///< name of the case in its suite
  std::string argumentText; ///< "M=512 N=512"
  Grid grid = {1, 1, 1};
  std::span<DeviceArgument> arguments;
  const TensorNames *names = nullptr; ///< names of the buffers, by which a GEMM is recognized
  int rounds = 11;
  bool useGraphs = false;
  bool isCold = true;
  bool measuresEnergy = false;
  std::optional<double> flops;        ///< FLOPs per launch; nullopt: those of the GEMMs in the expectation
  std::vector<std::string> baselines; ///< values of --baseline; empty: the default
  std::string cublas;
  bool isPrecise = false; ///< cuBLAS accumulates 8-bit floats in fp32
};

/// The work of a kernel according to its expectations.
struct Workload {
  double flops = 0, bytes = 0;
  double special = 0; ///< exp, log, sqrt and the like, one operation per element
  std::optional<DataType> gemmType;
  std::optional<GemmPlan> plan; ///< set if the first expectation that cuBLAS can compute is a single GEMM
};
Result<Workload> findWorkload(const runtime::Manifest &manifest, std::span<const DeviceArgument> arguments,
                              const TensorNames &names);

/// Measures the given number of rounds after a warm-up round. Stores the sizes of rounds and the state of the GPU in
/// `result`.
Status measureContestants(CudaDevice &device, const Stopwatch &watch, std::span<Contestant> contestants,
                          const BenchRequest &request, BenchResult &result);

/// Fails if the grid is empty.
Status requireWork(const Grid &grid);

Result<BenchResult> runBench(CudaDevice &device, const BenchRequest &request);

} // namespace tile::runner
