// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sinks the uses of loads below the loads of the next block.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Sinks a block's loads, and the instructions that depend on them, below the first loads of the successors. Kernels
/// that use tensor cores are not changed.
void awaitLate(llvm::Function &function);

} // namespace tile::codegen
