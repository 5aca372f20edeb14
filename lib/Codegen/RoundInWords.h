// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounding of fp32 values to bf16 precision.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Rounds and widens with one instruction: a pair of bf16 whose lower element is zero, read as a word, is the upper
/// element widened to fp32.
///
///   %half = fptrunc float %x to bfloat       ==>   %pair = @llvm.nvvm.ff2bf16x2.rn(float %x, float 0.0)
///   %y = fpext bfloat %half to float               %y = bitcast <2 x bfloat> %pair to float
///
/// ptxas 13.0 compiles the former to F2F and a shift per element. F2F is as slow as an exponential: 16 per clock and
/// multiprocessor, whereas 64 pairs are rounded. Needs sm_80.
void roundInWords(llvm::Function &function);

} // namespace tile::codegen
