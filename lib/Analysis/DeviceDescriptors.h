// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects descriptors for which the kernel itself encodes tensor maps, so that TMA copies their blocks: those that the
// launcher cannot encode, because base, shape or strides are loaded from memory.
#pragma once

#include "Analysis/AxisInfo.h"
#include "Tile/TileDialect.h"

namespace tile {

/// Returns the descriptors for which the kernel encodes the maps itself. Each is used either by loads or by stores, not
/// both, and there are none unless wgmma multiplies data that is loaded through descriptors. Calls `refuse` with every
/// other descriptor and the reason.
llvm::SmallVector<MakeDescOp> planDeviceDescriptors(KernelOp kernel,
                                                    llvm::function_ref<void(MakeDescOp, std::string)> refuse = {});

/// Returns why accesses through the descriptor cannot use TMA, no matter who encodes the tensor map; empty if they can.
std::string whyNoTensorMap(MakeDescOp desc, AxisInfoAnalysis &facts);

} // namespace tile
