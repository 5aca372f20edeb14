// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors that branches and loops pass on.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Makes branches and loops of the kernel pass on what descriptors are made of instead of descriptors.
llvm::LogicalResult splitCarriedDescriptors(KernelOp kernel);

} // namespace tile
