// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors that the launcher cannot make, because base, shape or strides come from memory: which of them the kernel
// makes itself, so that TMA copies their blocks.
#pragma once

#include "Analysis/AxisInfo.h"
#include "Tile/TileDialect.h"

namespace tile {

/// The descriptors that a kernel makes itself: read or written through, not both, and only where warp
/// groups multiply what is read. `refuse` is told of the others and why.
llvm::SmallVector<MakeDescOp> planDeviceDescriptors(KernelOp kernel,
                                                    llvm::function_ref<void(MakeDescOp, std::string)> refuse = {});

/// What keeps accesses through the descriptor from TMA, whoever makes its tensor map; empty if nothing does.
std::string whyNoTensorMap(MakeDescOp desc, AxisInfoAnalysis &facts);

} // namespace tile
