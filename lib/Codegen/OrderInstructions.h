// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of instructions that have no effects, where too much would be live at once.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Tensors are computed operation by operation, each for all elements of a thread. Where a chain of operations needs
/// several values an element (random numbers, erf), those of 128 elements do not fit in registers, and ptxas keeps much
/// of that order. So where more is live between two effects than a thread has registers, each result is computed from
/// its beginning to its end before the next one:
///
///   a0 = f x0; a1 = f x1; b0 = g a0, a0'; b1 = g a1, a1'   ==>   a0 = f x0; b0 = g a0, a0'; a1 = f x1; b1 = g a1, a1'
void orderByResult(llvm::Function &function);

} // namespace tile::codegen
