// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is computed from a load waits for it behind the next block's loads.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Moves a block's loads, and what depends on them, behind the first loads of the blocks that follow it. Kernels that
/// multiply on the tensor cores stay as they are.
void awaitLate(llvm::Function &function);

} // namespace tile::codegen
