// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Register budget per thread for high occupancy.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Returns the register budget per thread: 64, with which half of a multiprocessor's maximum number of threads can be
/// resident. For CTAs of 1024 threads, the result is 32, with which two CTAs are resident; a single CTA would leave the
/// multiprocessor idle while its threads wait for memory or at a barrier.
unsigned registersForManyThreads(const llvm::Function &function);

/// Returns true if a CTA has half of the maximum number of threads of a multiprocessor, so that a second CTA is
/// resident only with 32 registers per thread.
bool isOfMostThreads(const llvm::Function &function);

} // namespace tile::codegen
