// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reorders instructions without side effects to lower register pressure.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Tensors are computed operation by operation, each for all elements of a thread. If a chain of operations needs
/// several values per element (random numbers, erf), the values of 128 elements do not fit in registers, and ptxas
/// largely keeps this order. Therefore, where more values are live than a thread has registers, each result is computed
/// completely before the next one:
///
///   a0 = f x0; a1 = f x1; b0 = g a0, a0'; b1 = g a1, a1'   ==>   a0 = f x0; b0 = g a0, a0'; a1 = f x1; b1 = g a1, a1'
///
/// If the live values need more than four times the registers of a thread, loads are reordered as well, so that a block
/// that is summed is not loaded completely first. Kernels that use tensor cores are not changed.
///
/// For CTAs of 1024 threads, the limit is 32 registers, with which two CTAs are resident. Reordering then crosses side
/// effects: the operands of a store are computed right before the store, and values that are needed only after a
/// barrier are loaded after the barrier. CTAs with fewer threads would become slower
/// (bench/results/h200/row-kernels.md).
void orderByResult(llvm::Function &function);

} // namespace tile::codegen
