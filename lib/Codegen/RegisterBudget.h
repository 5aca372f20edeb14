// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With how many registers a thread many threads run on a multiprocessor.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Registers of a thread where half of the threads that a multiprocessor can hold run on it: 64. Of CTAs of 1024
/// threads two run with 32; one alone has nothing to do while its threads wait for memory, or for each other.
unsigned registersForManyThreads(const llvm::Function &function);

/// Whether a CTA has half of the threads that a multiprocessor can hold, so that a second one runs with 32 registers or
/// not at all.
bool isOfMostThreads(const llvm::Function &function);

} // namespace tile::codegen
