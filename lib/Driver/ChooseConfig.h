// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the block sizes, warps and stages of a GEMM that a kernel leaves open, using the cost model of lib/Target.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Driver/KernelFacts.h"
#include "Frontend/OpenGemm.h"
#include "Target/CostModel.h"

namespace tile::driver {

struct ConfigChoice {
  frontend::TileChoices tiles;
  bool splitsTail = false; ///< whether splitting the last wave over idle CTAs is expected to pay
  bool isOneWave = false;  ///< whether there are at most as many tiles as SMs, and no tile is split
  std::string advice;      ///< the assumption that would make the GEMM much faster; may be empty
};

/// Describes a GEMM to the cost model.
target::GemmProblem problemOf(const CompilerOptions &options, const target::GpuTarget &gpu,
                              const frontend::OpenGemm &gemm, const KernelFacts &facts);
/// Returns the parameters that are given. Values that are not valid sizes are treated as open; the front end rejects
/// them later.
target::GemmChoices givenChoices(const frontend::TileChoices &tiles);

/// Returns the cheapest configuration for the options' target. If `explain` is set, also writes a table of the best
/// configurations.
ConfigChoice chooseConfig(const CompilerOptions &options, const target::GpuTarget &gpu, const frontend::OpenGemm &gemm,
                          const KernelFacts &facts, std::string *explain);

} // namespace tile::driver
