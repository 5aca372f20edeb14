// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the instructions of a kernel do to memory, in LLVM's form.
#pragma once

namespace llvm {
class Function;
class Instruction;
class StringRef;
} // namespace llvm

namespace tile::codegen {

/// The text of an inline assembly statement, or the name of what is called; empty for all else.
llvm::StringRef nameOf(const llvm::Instruction &instruction);
/// Whether the tensor cores work: then passes of our own have decided on registers and order.
bool multiplies(const llvm::Function &function);
bool isBarrier(const llvm::Instruction &instruction);
bool hasBarrier(const llvm::Function &function);
/// Whether the kernel has no products, keeps rows in shared memory, and is told its CTAs (cta-keep-rows).
bool keepsRows(const llvm::Function &function);
/// Reads global memory, and does nothing else.
bool isGlobalLoad(const llvm::Instruction &instruction);
/// Writes global memory, and does nothing else.
bool isGlobalStore(const llvm::Instruction &instruction);

} // namespace tile::codegen
