// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reorders instructions without effects to lower register pressure.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Tensors are computed operation by operation, each for all elements of a thread. If a chain of operations needs
/// several values per element (random numbers, erf), those of 128 elements do not fit in registers, and ptxas keeps
/// much of that order. So where more values are live than a thread has registers, each result is computed completely
/// before the next one:
///
///   a0 = f x0; a1 = f x1; b0 = g a0, a0'; b1 = g a1, a1'   ==>   a0 = f x0; b0 = g a0, a0'; a1 = f x1; b1 = g a1, a1'
///
/// If the live values take more than four times as many registers, loads are reordered, too: a block that is summed is
/// not loaded completely first. Skipped for kernels that use tensor cores.
///
/// For CTAs of 1024 threads the limit is the 32 registers with which two of them are resident, and reordering crosses
/// effects: operands of a store are computed right before it, and values that are needed after a barrier are loaded
/// there. CTAs with fewer threads become slower with this (bench/results/h200/row-kernels.md).
void orderByResult(llvm::Function &function);

} // namespace tile::codegen
