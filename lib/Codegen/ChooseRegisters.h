// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses the number of registers per thread by requesting a number of CTAs per multiprocessor from ptxas.
#pragma once

#include "Codegen/RunPtxas.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>

namespace tile::codegen {

/// Assembles PTX; chooseRegisters may call it several times.
using Assembler = llvm::function_ref<llvm::Expected<Assembled>(llvm::StringRef ptx)>;

/// Assembles the PTX for the number of CTAs per multiprocessor that suits the kernel, with up to five calls to
/// `assemble`. If `requested` has a value, assembles for that number of CTAs instead; 0 means the default of ptxas. PTX
/// that declares the number of CTAs itself (as kernels with warp roles do) and PTX with several kernels is assembled
/// unchanged. `dynamicShared` is the dynamic shared memory per CTA in bytes.
llvm::Expected<Assembled> chooseRegisters(llvm::StringRef ptx, const target::GpuTarget &target, int64_t dynamicShared,
                                          Assembler assemble, std::optional<unsigned> requested = {});

} // namespace tile::codegen
