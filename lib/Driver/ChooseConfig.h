// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses block sizes, warps and stages of a matrix product that a kernel leaves open, by lib/Target's cost model.
#pragma once

#include "Driver/CompilerOptions.h"
#include "Frontend/OpenProduct.h"
#include "Target/CostModel.h"

namespace tile::driver {

struct ConfigChoice {
  frontend::TileChoices tiles;
  bool splitsTail;    ///< Whether cta-stream-k is expected to split the last round.
  bool isOneWave;     ///< Whether there are no more programs than multiprocessors, and none shares its tile.
  bool isForGroups;   ///< Whether warp groups are expected to multiply.
  bool hasOddSize;    ///< Whether a block size was chosen that is no power of two.
  std::string advice; ///< What the user could promise to have it multiplied much faster; may be empty.
};

/// Sizes of blocks that are offered: what the kernel does with blocks may rule some out. Rows that are no power of two
/// take a product whose operands can be swapped. RoomForSums: powers of two that leave registers and shared memory for
/// more sums than those of one product. ForWarps: of products that warp groups do not multiply, whatever their
/// operands' type is.
enum class BlockSizes { Any, OddColumns, PowersOfTwo, RoomForSums, ForWarps };

/// What the cost model learns about a product.
target::GemmProblem problemOf(const CompilerOptions &options, const target::GpuTarget &gpu,
                              const frontend::OpenProduct &product, BlockSizes sizes);
/// What is fixed; numbers that are no sizes, which the front end rejects later, count as open.
target::GemmChoices givenChoices(const frontend::TileChoices &tiles);

/// Whether the options leave all of these steps in the pipeline.
bool runsAll(const GpuPipelineOptions &options, llvm::ArrayRef<llvm::StringRef> passes);

/// The cheapest configuration for the target of the options. With `explain`, also why: a table of the best.
ConfigChoice chooseConfig(const CompilerOptions &options, const target::GpuTarget &gpu,
                          const frontend::OpenProduct &product, BlockSizes sizes, std::string *explain);

} // namespace tile::driver
