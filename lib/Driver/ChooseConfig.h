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
  bool hasOddSize;    ///< Whether a block size was chosen that is no power of two.
  std::string advice; ///< What the user could promise to have it multiplied much faster; may be empty.
};

/// The cheapest configuration for the target of the options. With `explain`, also why: a table of the best. Without
/// `anySize` only powers of two are chosen.
ConfigChoice chooseConfig(const CompilerOptions &options, const target::GpuTarget &gpu,
                          const frontend::OpenProduct &product, bool anySize, std::string *explain);

} // namespace tile::driver
