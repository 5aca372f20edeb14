// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the high half of a 32-bit product by one instruction, and works around a ptxas bug.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Replaces the halves of a 64-bit product of two extended 32-bit integers by 32-bit instructions:
///
///   lshr (mul (zext a), (zext b)), 32   ==>   zext (mulhi a, b)
///   trunc (mul (zext a), (zext b))      ==>   mul a, b
///
/// If an operand is extended in another block, the back end does not see that it is narrow and multiplies 64-bit
/// integers. ptxas (12.8 and 13.0, from -O2 on) then moves loop-invariant factors across the extraction of the high
/// half: it computes `b * high(a * m)` as `high(b * m) * a`, which is wrong, and reads a word next to the argument `b`.
/// (This was seen in the division by a reciprocal, of a program's index in the loop of a kernel.)
///
/// Keeps products whose operands are all extended in the same block, for which the back end selects mul.hi or mul.wide
/// itself: with intrinsics, it orders the random numbers of a dropout so that they spill five times as much.
void multiplyHigh(llvm::Function &function);

} // namespace tile::codegen
