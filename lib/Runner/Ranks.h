// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel on several GPUs at once, real or simulated. Each rank has its own buffers; tables that `peers(x)` fills
// have the addresses of the buffers x of all ranks, and expectations can use their contents.
//
//   tile-run run push.cubin --ranks=4 --device=sim --check        simulated, in one launch of the simulator
//   tile-run run push.cubin --devices=0,1 --check                 a thread for each GPU
//   mpirun -n 2 tile-run run push.cubin --check                   a process for each GPU
//
// Ranks differ in their random inputs (except those with a seed of their own), in `this_rank` of expressions, and in
// `{rank}` of file names.
#pragma once

#include "Runner/Run.h"

namespace tile::runner {

/// Which ranks there are, and which of them run in this process.
struct RankPlan {
  int size = 1;
  bool isSimulated = false;
  std::vector<int> devices; ///< of the ranks in this process; empty if they are simulated
  int first = 0;            ///< the first rank of this process
  std::string address;      ///< of rank 0, if ranks are processes
  bool isOneProcess() const { return address.empty(); }
};

/// Reads the options and, for kernels with a table of peers, what a launcher of processes has left in the environment.
/// Returns one rank for a run on one device.
Result<RankPlan> planRanks(const RunOptions &options, const Manifest &manifest);

/// Runs the kernel, and prints a report for each rank of this process. Returns the exit code.
int runOnRanks(const RunOptions &options, const runtime::Artifact &artifact, const RankPlan &plan);

/// Returns options for one rank: names of files and values of integers are those of the rank.
Result<RunOptions> optionsOfRank(const RunOptions &options, const Manifest &manifest, int rank, int ranks);
/// Returns a copy in which expressions know the rank and the number of ranks.
Manifest manifestOfRank(const Manifest &manifest, int rank, int ranks);

} // namespace tile::runner
