// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounds 16-bit floats after each operation.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Keeps fp16 and bf16 multiplications separate from additions. LLVM and ptxas would contract them into one fma with a
/// single rounding step, as they do for fp32 and fp64:
///
///   %p = fmul half %x, %y          ==>   %p = @llvm.nvvm.fma.rn.f16(half %x, half %y, half -0.0)
///   %s = fsub half %p, %z                %s = fsub half %p, %z
///
/// The fma with minus zero computes the rounded product. An instruction with an explicit rounding mode is never
/// contracted (PTX ISA, "fma"), and it takes as long as the multiplication. For targets without bf16 arithmetic, bf16
/// values are multiplied in fp32 and rounded to bf16.
void roundMultiplications(llvm::Function &function, bool hasBF16);

} // namespace tile::codegen
