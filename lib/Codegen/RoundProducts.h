// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 16-bit floats are rounded after each operation.
#pragma once

namespace llvm {
class Function;
} // namespace llvm

namespace tile::codegen {

/// Keeps multiplications of fp16 and bf16 apart from additions, which LLVM and ptxas would contract into one fma with a
/// single rounding, as they do for fp32 and fp64:
///
///   %p = fmul half %x, %y          ==>   %p = @llvm.nvvm.fma.rn.f16(half %x, half %y, half -0.0)
///   %s = fsub half %p, %z                %s = fsub half %p, %z
///
/// The fma with minus zero is the product, rounded; an instruction that says its rounding is never contracted (PTX ISA,
/// "fma"). It takes as long as the product. Where a target has no arithmetic of bf16, the product is one of fp32,
/// converted.
void roundProducts(llvm::Function &function, bool hasBF16);

} // namespace tile::codegen
