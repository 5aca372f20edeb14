// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rounds 16-bit floats after each operation.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Keeps fp16 and bf16 multiplications separate from additions, which LLVM and ptxas would contract into one fma with a
/// single rounding, as they do for fp32 and fp64:
///
///   %p = fmul half %x, %y          ==>   %p = @llvm.nvvm.fma.rn.f16(half %x, half %y, half -0.0)
///   %s = fsub half %p, %z                %s = fsub half %p, %z
///
/// The fma with minus zero is the rounded product. An instruction with an explicit rounding mode is never contracted
/// (PTX ISA, "fma"), and it takes as long as the multiplication. Targets without bf16 arithmetic multiply in fp32 and
/// convert.
void roundMultiplications(llvm::Function &function, bool hasBF16);

} // namespace tile::codegen
