// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory effects of a kernel's instructions in LLVM IR.
#pragma once

namespace llvm {
class Function;
class Instruction;
class StringRef;
} // namespace llvm

namespace tile::codegen {

/// Returns the assembly string of an inline assembly statement, or the name of the callee; empty for other
/// instructions.
llvm::StringRef nameOf(const llvm::Instruction &instruction);
/// Returns true if the function uses tensor cores. In this case, earlier passes have already planned the registers and
/// the order of instructions.
bool multiplies(const llvm::Function &function);
bool isBarrier(const llvm::Instruction &instruction);
bool hasBarrier(const llvm::Function &function);
/// Returns true if the kernel has no MMAs, keeps rows in shared memory, and declares a minimum number of CTAs per
/// multiprocessor, as cta-keep-rows does.
bool keepsRows(const llvm::Function &function);
/// Returns true for instructions whose only effect is to read global memory.
bool isGlobalLoad(const llvm::Instruction &instruction);
/// Returns true for instructions whose only effect is to write global memory.
bool isGlobalStore(const llvm::Instruction &instruction);

} // namespace tile::codegen
