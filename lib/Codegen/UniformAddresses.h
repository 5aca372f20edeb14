// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses in shared memory that all threads of a warp have in common.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Takes the address of shared memory anew before each innermost loop, and in each other block that computes with it,
/// in kernels that multiply by wgmma.
///
/// Descriptors of wgmma are read from uniform registers, for which ptxas computes with uniform instructions, beside the
/// others. An address that blocks share with what each thread adds to it is kept in the registers of threads, though,
/// and so is what is computed from it: a loop in the backward pass of attention had 40 instructions of 276 that copy
/// words of descriptors to uniform registers, and now has none. LLVM would take the address once for all.
void takeSharedBaseAnew(llvm::Function &function);

} // namespace tile::codegen
