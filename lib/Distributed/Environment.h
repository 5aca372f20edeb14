// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rank, number of ranks and address of rank 0, from the environment variables that launchers set.
#pragma once

#include "Runtime/Result.h"
#include "tile/tile_dist.h"

#include <string>
#include <string_view>

namespace tile::dist {

struct Launch {
  int rank = 0, size = 1;
  int localRank = 0;   ///< rank on its host
  std::string address; ///< address of rank 0: HOST:PORT
};

/// Reads the variables of torchrun, Open MPI, MPICH (PMI) and Slurm, in this order. Without them there is a single
/// rank.
runtime::Result<Launch> readLaunch(tile_dist_variable get, void *user);

/// Returns the first host of a Slurm list: "gpu[03-07,9],login1" is gpu03.
std::string firstHost(std::string_view list);

} // namespace tile::dist
