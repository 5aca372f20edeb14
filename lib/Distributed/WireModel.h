// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expected times of operations across GPUs, from the times of their GEMMs and the bytes that are transferred.
#pragma once

#include "tile/tile_dist.h"

#include <cstdint>

namespace tile::dist {

/// The properties of an operation that the model uses; times are in microseconds.
struct WireWork {
  int ranks = 1;
  double gemm = 0;       ///< time of the whole GEMM of a rank
  double chunk = 0;      ///< time of the GEMM of one rank's rows
  double chunkBytes = 0; ///< bytes that a rank sends to each other rank, and receives from it
  int units = 1;         ///< number of parts of a chunk that arrive separately
};

/// Returns the time of the arithmetic on a GPU, without a model of the kernel.
double arithmeticTime(double flops, int multiprocessors);
/// Returns the time of collective and GEMM, one after the other. `passes`: 1, or 2 for an all-reduce.
double sequentialTime(const WireWork &work, int passes);
/// Returns the time of one GEMM per chunk, the own one first, each after its rows have arrived.
double gatherChunkedTime(const WireWork &work);
/// Returns the time of one GEMM whose tiles wait for their rows.
double gatherFlaggedTime(const WireWork &work);
/// Returns the time of GEMMs of the other ranks' chunks, which are pushed to them, followed by the own chunk and the
/// sum of all parts. With `isGathered`, the sums are then sent to all others.
double scatterChunkedTime(const WireWork &work, bool isGathered);

/// The properties of a mixture of experts that the model uses. All experts are assumed to get equally many tokens.
struct MoeWork {
  int ranks = 1;
  int topK = 1;
  double experts = 0;    ///< time of the experts' layers
  double tokenBytes = 0; ///< bytes of all tokens of a rank
};

/// Returns the time of the experts' layers: that of the arithmetic, or of reading the weights.
double expertsTime(double flops, double weightBytes, int multiprocessors);
/// Returns the time if NCCL sends all tokens to all ranks, and after the experts returns the sums of all ranks' tokens.
double moeSequentialTime(const MoeWork &work);
/// Returns the time if tokens are pushed to the ranks that need them while own ones are sorted, and sums are pushed as
/// they are computed.
double moeChunkedTime(const MoeWork &work);

} // namespace tile::dist
