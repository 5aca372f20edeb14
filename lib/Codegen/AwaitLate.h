// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves the uses of loads after the loads of the next block.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Moves a block's loads, and the instructions that depend on them, into its successors, after the first loads there.
/// Kernels that use tensor cores are not changed.
void awaitLate(llvm::Function &function);

} // namespace tile::codegen
