// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Baselines against which a kernel is measured.
//
//   auto          cuBLAS for a kernel that is a single GEMM, optionally with bias and activation; cuBLAS for the GEMM
//                 alone if the kernel computes more; a device-to-device copy for everything else
//   cublas, copy  the baseline of this kind, even if it is not the default for the kernel
//   cublaslt      cublasLtMatmul with the fastest algorithm in its heuristic's list, found by a search
//   none          nothing
//   FILE.cubin    another artifact of the same kernel, with the same inputs
//   FILE.jsonl    times that were recorded earlier, by any program (RecordedTimes.h); not measured in the same rounds
#pragma once

#include "Lab/Bench/Bench.h"

namespace tile::runner {

struct BaselineChoice {
  enum class Kind { Auto, Cublas, CublasLt, Copy, None, Artifact, Recorded };
  Kind kind = Kind::Auto;
  std::string file;
};

/// Parses the value of `--baseline`; the error lists the alternatives.
Result<BaselineChoice> parseBaseline(const std::string &text);

/// A baseline that is ready to launch, and the objects that it needs.
struct Baseline {
  std::string name;
  std::string note;    ///< the reason if there is no baseline
  std::string command; ///< for a recorded baseline: the command that measured it
  double recordedMicroseconds = -1;
  std::shared_ptr<void> owner; ///< owns the objects that the launches use
  /// One per copy of the buffers; empty if there is no baseline or it is recorded.
  std::vector<Launch> launches;
  std::optional<size_t> comparedArgument; ///< output of the kernel that the baseline also computes
  runtime::CUdeviceptr result = 0;        ///< the address of the baseline's first element of that output
};

/// The computation of the kernel, which the baseline has to match.
struct BaselineRequest {
  const BenchRequest *bench = nullptr;
  CudaDevice *device = nullptr;
  std::span<const CudaSession> sessions; ///< the kernel's buffers, and copies of them
  const Stopwatch *watch = nullptr;      ///< times the launches of a search
  std::optional<GemmPlan> plan;          ///< set if the kernel is a single GEMM
  double bytes = 0;
};

Result<Baseline> prepareBaseline(const BaselineChoice &choice, const BaselineRequest &request);

} // namespace tile::runner
