// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expected times of operations across GPUs, from those of their GEMMs and the bytes on the wire.
#pragma once

#include "tile/tile_dist.h"

#include <cstdint>

namespace tile::dist {

/// An operation as the model sees it; times in microseconds.
struct WireWork {
  int ranks = 1;
  double gemm = 0;       ///< the whole GEMM of a rank
  double chunk = 0;      ///< the GEMM of the rows of one rank
  double chunkBytes = 0; ///< that a rank sends to each other rank, and receives from it
  int units = 1;         ///< parts of a chunk that arrive separately
};

/// The time of arithmetic on a GPU without a model of the kernel.
double arithmeticTime(double flops, int multiprocessors);
/// Collective and GEMM, one after the other. `passes`: 1, or 2 for an all-reduce.
double sequentialTime(const WireWork &work, int passes);
/// GEMMs of the chunks, the own one first, each after its rows have arrived.
double gatherChunkedTime(const WireWork &work);
/// One GEMM whose tiles wait for their rows.
double gatherFlaggedTime(const WireWork &work);
/// GEMMs of the other ranks' chunks, which copies push to them, then the own one, and the sum of all parts.
/// `isGathered`: the sums then go to all others.
double scatterChunkedTime(const WireWork &work, bool isGathered);

/// A mixture of experts as the model sees it, with experts that all get as many tokens.
struct MoeWork {
  int ranks = 1;
  int topK = 1;
  double experts = 0;    ///< time of their layers
  double tokenBytes = 0; ///< of all tokens of a rank
};

/// The time of the experts' layers: of their arithmetic, or of reading the weights.
double expertsTime(double flops, double weightBytes, int multiprocessors);
/// All tokens go to all ranks by NCCL, then the experts, then sums of all ranks' tokens go back by NCCL.
double moeSequentialTime(const MoeWork &work);
/// Tokens are pushed to the ranks that need them, while own ones are sorted; sums are pushed as they are computed.
double moeChunkedTime(const MoeWork &work);

} // namespace tile::dist
