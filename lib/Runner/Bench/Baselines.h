// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel is measured against.
//
//   auto          cuBLAS for one product, with bias and activation perhaps; for the product alone where there is more
//   to a
//                 kernel; a device-to-device copy for everything else
//   cublas, copy  one of these
//   cublaslt      cublasLtMatmul with the fastest algorithm of its heuristic's list, which is searched
//   none          nothing
//   FILE.cubin    another artifact of the same kernel, with the same inputs
//   FILE.jsonl    times that were recorded before, of anything (RecordedTimes.h): not in the same rounds
#pragma once

#include "Runner/Bench/Bench.h"

namespace tile::runner {

struct BaselineChoice {
  enum class Kind { Auto, Cublas, CublasLt, Copy, None, Artifact, Recorded };
  Kind kind = Kind::Auto;
  std::string file;
};

/// Of `--baseline`; an error says what there is.
Result<BaselineChoice> parseBaseline(const std::string &text);

/// A baseline that is ready to be launched, and what it needs to stay alive.
struct Baseline {
  std::string name;
  std::string note;    ///< why there is none
  std::string command; ///< of a recorded one: what measured it
  double recordedMicroseconds = -1;
  std::shared_ptr<void> owner;            ///< of what the launches use
  std::vector<Launch> launches;           ///< one for each copy of the buffers; empty: none, or recorded
  std::optional<size_t> comparedArgument; ///< output of the kernel that the baseline computes as well
  runtime::CUdeviceptr result = 0;        ///< its first element
};

/// What the kernel computes, for a baseline to compute the same.
struct BaselineRequest {
  const BenchRequest *bench = nullptr;
  CudaDevice *device = nullptr;
  std::span<const CudaSession> sessions; ///< the kernel's buffers, and copies of them
  const Stopwatch *watch = nullptr;      ///< to search with
  std::optional<GemmPlan> plan;          ///< if it is one product
  double bytes = 0;
};

Result<Baseline> prepareBaseline(const BaselineChoice &choice, const BaselineRequest &request);

} // namespace tile::runner
