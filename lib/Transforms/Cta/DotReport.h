// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Describes the engine of a dot, and what wgmma would have required.
#pragma once

#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"

#include <string>

namespace tile {

/// Returns the report; for example, "wgmma m64n128k16; a is copied by TMA, b stored by threads" or "mma.sync m16n8k16:
/// wgmma needs at least 64 rows; a has 32".
std::string reportEngine(DotOp dot, const target::GpuTarget &target, unsigned numWarps);

} // namespace tile
