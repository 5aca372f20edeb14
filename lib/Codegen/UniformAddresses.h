// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp-uniform addresses in shared memory.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Materializes the shared-memory base address again before each innermost loop, and in each other block that computes
/// with it, in kernels that use wgmma.
///
/// wgmma descriptors are read from uniform registers, which ptxas computes with uniform instructions that issue
/// alongside the others. But ptxas keeps an address that different blocks share with per-thread additions in per-thread
/// registers, together with everything computed from it. A loop in the backward pass of attention had 40 instructions
/// of 276 that copy words of descriptors to uniform registers, and now has none. LLVM would materialize the address
/// only once.
void takeSharedBaseAnew(llvm::Function &function);

} // namespace tile::codegen
