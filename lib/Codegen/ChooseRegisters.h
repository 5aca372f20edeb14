// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many registers ptxas may give a thread, said by the CTAs that a multiprocessor should hold.
#pragma once

#include "Codegen/RunPtxas.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tile::codegen {

/// Assembles PTX; called several times.
using Assembler = llvm::function_ref<llvm::Expected<Assembled>(llvm::StringRef ptx)>;

/// What `assemble` makes of the PTX with the number of CTAs that suits the kernel, which takes up to five calls. PTX
/// that says how many there are, as with warp roles, and that of several kernels, is assembled as it is.
/// `dynamicShared` bytes are what each CTA asks for.
llvm::Expected<Assembled> chooseRegisters(llvm::StringRef ptx, const target::GpuTarget &target, int64_t dynamicShared,
                                          Assembler assemble);

} // namespace tile::codegen
