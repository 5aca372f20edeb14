// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of 16 bits stay packed in words while threads wait for each other.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Widens halves again after each barrier, instead of keeping them widened across it. Kernels that multiply on the
/// tensor cores stay as they are.
void keepPacked(llvm::Function &function);

} // namespace tile::codegen
