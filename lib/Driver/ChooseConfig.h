// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses block sizes, warps and stages of a matrix product that a kernel leaves open, by lib/Target's cost model.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Driver/KernelFacts.h"
#include "Frontend/Sema/OpenProduct.h"
#include "Target/CostModel.h"

namespace tile::driver {

struct ConfigChoice {
  frontend::TileChoices tiles;
  bool splitsTail = false; ///< Whether it is expected to pay that CTAs share the last wave.
  bool isOneWave = false;  ///< Whether there are no more programs than multiprocessors, and none shares its tile.
  std::string advice;      ///< What the user could promise to have it multiplied much faster; may be empty.
};

/// What the cost model learns about a product.
target::GemmProblem problemOf(const CompilerOptions &options, const target::GpuTarget &gpu,
                              const frontend::OpenProduct &product, const KernelFacts &facts);
/// What is fixed; numbers that are not sizes, which the front end rejects later, count as open.
target::GemmChoices givenChoices(const frontend::TileChoices &tiles);

/// The cheapest configuration for the target of the options. With `explain`, also why: a table of the best.
ConfigChoice chooseConfig(const CompilerOptions &options, const target::GpuTarget &gpu,
                          const frontend::OpenProduct &product, const KernelFacts &facts, std::string *explain);

} // namespace tile::driver
