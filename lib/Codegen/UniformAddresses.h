// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps addresses in shared memory in uniform registers.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Materializes the base address of shared memory again before each innermost loop, and in each other block that
/// computes with this address, in kernels that use wgmma.
///
/// wgmma reads descriptors from uniform registers, which ptxas computes with uniform instructions that issue alongside
/// other instructions. However, if different blocks share an address with per-thread additions, ptxas keeps the address
/// in per-thread registers, together with everything that is computed from it. In a loop in the backward pass of
/// attention, 40 of 276 instructions copied words of descriptors to uniform registers. With this pass, there are no
/// such copies. LLVM by itself would materialize the address only once.
void takeSharedBaseAnew(llvm::Function &function);

} // namespace tile::codegen
