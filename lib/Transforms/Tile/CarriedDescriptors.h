// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors that branches and loops yield.
#pragma once

#include "Tile/TileDialect.h"

namespace tile {

/// Makes branches and loops of the kernel yield the parts of descriptors instead of descriptors.
llvm::LogicalResult splitCarriedDescriptors(KernelOp kernel);

} // namespace tile
