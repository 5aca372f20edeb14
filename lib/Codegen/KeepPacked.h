// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps 16-bit values packed in 32-bit words across barriers.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Widens halves again after each barrier, so that they cross the barrier in packed form. Kernels that use tensor cores
/// are not changed.
void keepPacked(llvm::Function &function);

} // namespace tile::codegen
