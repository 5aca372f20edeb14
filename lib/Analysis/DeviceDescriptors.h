// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Descriptors that the launcher cannot encode, because base, shape or strides are loaded from memory: selects those for
// which the kernel itself encodes tensor maps, so that TMA copies their blocks.
#pragma once

#include "Analysis/AxisInfo.h"
#include "Tile/TileDialect.h"

namespace tile {

/// Returns the descriptors for which a kernel encodes the maps itself: those either read or written through, but not
/// both, and only if wgmma multiplies the data read. Calls `refuse` with each of the others and the reason.
llvm::SmallVector<MakeDescOp> planDeviceDescriptors(KernelOp kernel,
                                                    llvm::function_ref<void(MakeDescOp, std::string)> refuse = {});

/// Returns what keeps accesses through the descriptor from TMA, whoever encodes its tensor map; empty if nothing does.
std::string whyNoTensorMap(MakeDescOp desc, AxisInfoAnalysis &facts);

} // namespace tile
