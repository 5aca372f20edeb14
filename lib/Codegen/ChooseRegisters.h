// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the number of registers per thread through the number of CTAs per multiprocessor that ptxas is asked for.
#pragma once

#include "Codegen/RunPtxas.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tile::codegen {

/// Assembles PTX; called several times.
using Assembler = llvm::function_ref<llvm::Expected<Assembled>(llvm::StringRef ptx)>;

/// Assembles the PTX for the number of CTAs that suits the kernel, with up to five calls of `assemble`, or for
/// `requested` CTAs, where 0 is the default of ptxas. PTX that declares the number of CTAs, as with warp roles, and PTX
/// with several kernels is assembled unchanged. `dynamicShared` is the dynamic shared memory per CTA in bytes.
llvm::Expected<Assembled> chooseRegisters(llvm::StringRef ptx, const target::GpuTarget &target, int64_t dynamicShared,
                                          Assembler assemble, std::optional<unsigned> requested = {});

} // namespace tile::codegen
