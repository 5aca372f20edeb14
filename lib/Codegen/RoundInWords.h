// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers rounded to bf16 and widened again.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Rounds by one instruction: a pair of bf16 whose lower one is zero, as a word, is the wide number of the upper one.
///
///   %half = fptrunc float %x to bfloat       ==>   %pair = @llvm.nvvm.ff2bf16x2.rn(float %x, float 0.0)
///   %y = fpext bfloat %half to float               %y = bitcast <2 x bfloat> %pair to float
///
/// ptxas 13.0 makes F2F and a shift of the former, for each element, and F2F is as slow as an exponential: 16 a clock
/// on a multiprocessor, whereas 64 pairs are rounded. Needs instructions of sm_80.
void roundInWords(llvm::Function &function);

} // namespace tile::codegen
