// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Distributed/WireModel.h"

#include <algorithm>
#include <cmath>

namespace tile::dist {
namespace {

// Measured between two H200s connected by 18 NVLinks: copy engines pull 367 GB/s; NCCL 2.28.9 gathers 32 MiB per rank
// in 158 us and reduces them in 166 us.
constexpr double copyBytesPerMicrosecond = 350e3, ncclBytesPerMicrosecond = 210e3;
constexpr double pushBytesPerMicrosecond = 380e3;    ///< bandwidth of kernels that store to peer memory
constexpr double memoryBytesPerMicrosecond = 3500e3; ///< bandwidth of the GPU's own memory
constexpr double ncclStart = 12;                     ///< latency of a collective, including the following launch
constexpr double launchGap = 3;                      ///< latency between dependent kernels
/// Latency from a signal to the start of the work that waits for it on another GPU.
constexpr double signalDelay = 4;

// Time to read the routing and to launch the 8 kernels that sort tokens.
constexpr double sorting = 40;

/// Returns the time to copy tokens to the rows of experts, or to sum results: each row is read once and written once.
double localTime(const MoeWork &work, double rows) {
  return 2 * rows * work.tokenBytes / memoryBytesPerMicrosecond;
}

} // namespace

double arithmeticTime(double flops, int multiprocessors) {
  constexpr double flopsPerMicrosecond = 5e6; // peak rate of a multiprocessor of an H200, 16-bit operands
  return flops / (flopsPerMicrosecond * multiprocessors);
}

double sequentialTime(const WireWork &work, int passes) {
  return work.gemm + passes * (ncclStart + (work.ranks - 1) * work.chunkBytes / ncclBytesPerMicrosecond);
}

double gatherChunkedTime(const WireWork &work) {
  double end = work.chunk + launchGap, arrival = 2 * signalDelay;
  for (int chunk = 1; chunk < work.ranks; ++chunk) {
    arrival += work.chunkBytes / copyBytesPerMicrosecond;
    end = std::max(end, arrival) + work.chunk + launchGap;
  }
  return end;
}

double gatherFlaggedTime(const WireWork &work) {
  // Over 15 shapes on two H200s, a GEMM whose tiles wait took up to 5 % plus 25 us longer.
  constexpr double slowdown = 1.05, waits = 25;
  const double wire = 2 * signalDelay + (work.ranks - 1) * work.chunkBytes / copyBytesPerMicrosecond;
  return std::max(work.gemm * slowdown, wire + work.chunk / work.units) + waits;
}

double scatterChunkedTime(const WireWork &work, bool isGathered) {
  const double copy = work.chunkBytes / copyBytesPerMicrosecond;
  double end = 0, sent = 0;
  for (int chunk = 1; chunk < work.ranks; ++chunk) {
    end += work.chunk + launchGap;
    sent = std::max(sent, end + signalDelay) + copy;
  }
  end = std::max(end + work.chunk, sent + signalDelay);
  // The sum reads the parts of all ranks and writes one result.
  end += launchGap + (work.ranks + 1) * work.chunkBytes / memoryBytesPerMicrosecond;
  if (isGathered) // the last unit is pushed after the sum
    end += signalDelay + (work.ranks - 1) * work.chunkBytes / work.units / copyBytesPerMicrosecond;
  return end;
}

double expertsTime(double flops, double weightBytes, int multiprocessors) {
  return std::max(arithmeticTime(flops, multiprocessors), weightBytes / memoryBytesPerMicrosecond);
}

double moeSequentialTime(const MoeWork &work) {
  const double wire = ncclStart + (work.ranks - 1) * work.tokenBytes / ncclBytesPerMicrosecond;
  return sorting + work.experts + 2 * wire + 2 * localTime(work, work.topK);
}

double moeChunkedTime(const MoeWork &work) {
  // A rank needs a token if at least one of the token's experts is on that rank.
  const double needed = 1 - std::pow(1 - 1.0 / work.ranks, work.topK);
  const double wire = signalDelay + (work.ranks - 1) * needed * work.tokenBytes / pushBytesPerMicrosecond;
  const double own = localTime(work, double(work.topK) / work.ranks), others = localTime(work, work.topK) - own;
  // The sums for this rank's tokens wait for the parts of other ranks.
  return sorting + work.experts + std::max(wire, own) + others + std::max(wire, others) + own;
}

} // namespace tile::dist
