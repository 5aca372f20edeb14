// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounds fp32 values to the precision of bf16.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Rounds and widens with one instruction. A pair of bf16 values is one 32-bit word. If the lower element is zero, this
/// word is the upper element widened to fp32:
///
///   %half = fptrunc float %x to bfloat       ==>   %pair = @llvm.nvvm.ff2bf16x2.rn(float %x, float 0.0)
///   %y = fpext bfloat %half to float               %y = bitcast <2 x bfloat> %pair to float
///
/// ptxas 13.0 compiles the code on the left to F2F and a shift per element. A multiprocessor executes only 16 F2F per
/// cycle, as few as exponentials, but can round 64 pairs. Requires sm_80.
void roundInWords(llvm::Function &function);

} // namespace tile::codegen
