// What multiplies a dot. Two passes ask, all others read the dot's `engine`.
//
// Warp groups (wgmma) multiply what TMA puts into shared memory, so the choice decides which operands become blocks of
// descriptors, and what becomes of these decides whether it stays: tile-choose-engine takes for granted that TMA brings
// what a descriptor could, and tile-settle-engine looks what it brings.
#pragma once

#include "Analysis/RaisableAccesses.h"
#include "Cta/CtaDialect.h"

#include <string_view>

namespace tile {

struct EngineChoice {
  Engine engine;
  std::string_view whyNoWgmma; ///< Where the engine is another one: a clause without capital and period.
};

/// For operands as descriptors could bring them, of a program with blocks of any size. The engine may be one that
/// multiplies the transposed operands in the other order (Analysis/SwappedDot.h).
EngineChoice chooseEngine(DotOp dot, RaisableAccesses &accesses, const target::GpuTarget &target, unsigned numWarps);

/// For operands as they come.
EngineChoice settleEngine(DotOp dot, const target::GpuTarget &target, unsigned numWarps);

/// The engine of a dot that warp groups multiply; null for all others.
cta::WgmmaAttr getWgmma(DotOp dot);

} // namespace tile
