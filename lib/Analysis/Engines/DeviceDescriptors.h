// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects descriptors for which the kernel itself encodes tensor maps, so that TMA can copy their blocks. The launcher
// cannot encode these maps, because the base, shape or strides are loaded from memory.
#pragma once

#include "Analysis/Addresses/AxisInfo.h"
#include "Tile/TileDialect.h"

namespace tile {

/// Returns the descriptors for which the kernel itself encodes the maps. Each of them is used either by loads or by
/// stores, not by both. Returns none unless wgmma multiplies data that is loaded through descriptors. Calls `refuse`
/// with every other descriptor and the reason.
llvm::SmallVector<MakeDescOp> planDeviceDescriptors(KernelOp kernel,
                                                    llvm::function_ref<void(MakeDescOp, std::string)> refuse = {});

/// Returns why TMA cannot be used for accesses through the descriptor, no matter who encodes the tensor map; empty if
/// it can.
std::string whyNoTensorMap(MakeDescOp desc, AxisInfoAnalysis &facts);

} // namespace tile
