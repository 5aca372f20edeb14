// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What multiplies a dot, in words, and what warp groups would have needed for it.
#pragma once

#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"

#include <string>

namespace tile {

/// "wgmma m64n128k16; a is copied by TMA, b stored by threads", "mma.sync m16n8k16; wgmma multiplies 64 rows, a has
/// 32".
std::string reportEngine(DotOp dot, const target::GpuTarget &target, unsigned numWarps);

} // namespace tile
