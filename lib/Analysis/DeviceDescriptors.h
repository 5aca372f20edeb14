// Descriptors that the launcher cannot make, because base, shape or strides come from memory: which of them the kernel
// makes itself, so that TMA copies their blocks.
#pragma once

#include "Target/GpuTarget.h"
#include "Tile/TileDialect.h"

namespace tile {

/// The descriptors that a kernel for the target makes itself: read only, and only where warp groups multiply what is
/// read. `refuse` is told of the others and why.
llvm::SmallVector<MakeDescOp> planDeviceDescriptors(KernelOp kernel, const target::GpuTarget &target,
                                                    llvm::function_ref<void(MakeDescOp, std::string)> refuse = {});

} // namespace tile
