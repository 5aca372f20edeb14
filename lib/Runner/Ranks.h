// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel on several GPUs at the same time, real or simulated. Each rank has its own buffers. Tables that
// `peers(x)` fills contain the addresses of the buffers x of all ranks, and expectations can use the contents of these
// buffers.
//
//   tile-run run push.cubin --ranks=4 --device=sim --check        simulated, in one launch of the simulator
//   tile-run run push.cubin --devices=0,1 --check                 a thread for each GPU
//   mpirun -n 2 tile-run run push.cubin --check                   a process for each GPU
//
// Ranks differ in their random inputs (except buffers with an explicit seed), in the value of `this_rank` in
// expressions, and in `{rank}` in file names.
#pragma once

#include "Runner/Run.h"

namespace tile::runner {

/// The number of ranks, and the ranks that run in this process.
struct RankPlan {
  int size = 1;
  bool isSimulated = false;
  std::vector<int> devices; ///< the devices of the ranks in this process; empty if ranks are simulated
  int first = 0;            ///< the first rank of this process
  std::string address;      ///< the address of rank 0, if ranks are processes
  bool isOneProcess() const { return address.empty(); }
};

/// Reads the options and, for kernels with a table of peers, the environment variables that a launcher of processes has
/// set. Returns one rank for a run on one device.
Result<RankPlan> planRanks(const RunOptions &options, const Manifest &manifest);

/// Runs the kernel and prints a report for each rank of this process. Returns the exit code.
int runOnRanks(const RunOptions &options, const runtime::Artifact &artifact, const RankPlan &plan);

/// Returns the options for one rank, with the rank substituted in file names and in the values of integers.
Result<RunOptions> optionsOfRank(const RunOptions &options, const Manifest &manifest, int rank, int ranks);
/// Returns a copy of the manifest in whose expressions `this_rank` and `num_ranks` have these values.
Manifest manifestOfRank(const Manifest &manifest, int rank, int ranks);

} // namespace tile::runner
