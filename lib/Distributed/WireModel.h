// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes expected times of operations across GPUs from the times of their GEMMs and the number of bytes transferred.
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

/// Returns the time that the arithmetic takes on a GPU at peak rate, for kernels without a cost model.
double arithmeticTime(double flops, int multiprocessors);
/// Returns the time of the collective and the GEMM, one after the other. `passes`: 1, or 2 for an all-reduce.
double sequentialTime(const WireWork &work, int passes);
/// Returns the time of one GEMM per chunk, this rank's chunk first, each of the others after its rows have arrived.
double gatherChunkedTime(const WireWork &work);
/// Returns the time of one GEMM whose tiles wait for their rows.
double gatherFlaggedTime(const WireWork &work);
/// Returns the time of the GEMMs of the other ranks' chunks, which are pushed to those ranks, followed by the GEMM of
/// this rank's chunk and the sum of all parts. With `isGathered`, the sums are then sent to all other ranks.
double scatterChunkedTime(const WireWork &work, bool isGathered);

/// The properties of a mixture of experts that the model uses. Assumes that all experts get equally many tokens.
struct MoeWork {
  int ranks = 1;
  int topK = 1;
  double experts = 0;    ///< time of the experts' layers
  double tokenBytes = 0; ///< bytes of all tokens of a rank
};

/// Returns the time of the experts' layers, which is bounded by the arithmetic or by reading the weights.
double expertsTime(double flops, double weightBytes, int multiprocessors);
/// Returns the time if NCCL sends all tokens to all ranks and, after the experts, the sums back to the tokens' owners.
double moeSequentialTime(const MoeWork &work);
/// Returns the time if tokens are pushed to the ranks that need them while each rank sorts its own tokens, and sums are
/// pushed as they are computed.
double moeChunkedTime(const MoeWork &work);

} // namespace tile::dist
