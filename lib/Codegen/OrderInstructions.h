// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of instructions that have no effects, where too much would be live at once.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Tensors are computed operation by operation, each for all elements of a thread. Where a chain of operations needs
/// several values an element (random numbers, erf), those of 128 elements do not fit in registers, and ptxas keeps much
/// of that order. So where more is live than a thread has registers, each result is computed from its beginning to its
/// end before the next one:
///
///   a0 = f x0; a1 = f x1; b0 = g a0, a0'; b1 = g a1, a1'   ==>   a0 = f x0; b0 = g a0, a0'; a1 = f x1; b1 = g a1, a1'
///
/// Where what is live takes more than four times as many registers, that goes for loads, too: a block that is summed up is not
/// loaded whole before. Not beside products of tensor cores.
///
/// In CTAs of 1024 threads that is where it is more than the 32 registers with which two of them run, and goes across
/// effects: what a store needs is computed right before it, and what threads need when they have met is loaded then.
/// Fewer threads lose by that (bench/results/h200/row-kernels.md).
void orderByResult(llvm::Function &function);

} // namespace tile::codegen
