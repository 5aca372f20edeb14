// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses in shared memory that all threads of a warp have in common.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Takes the address of shared memory anew in each block that computes with it, in kernels that multiply by wgmma.
///
/// Descriptors of wgmma are read from uniform registers, for which ptxas computes with uniform instructions, beside the
/// others. What comes from another block it keeps in the registers of each thread, though, and so what is added to it:
/// an instruction of every thread for each word of each descriptor, and one to copy it, 76 of the 276 instructions of a
/// loop in the backward pass of attention, where 42 are left. LLVM would hoist the address out of the loop.
void takeSharedBaseAnew(llvm::Function &function);

} // namespace tile::codegen
