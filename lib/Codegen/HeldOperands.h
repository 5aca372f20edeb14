// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Works around a ptxas bug that affects left operands of wgmmas, if a loop holds them in registers.
//
// ptxas copies each left operand into consecutive registers, and hoists that copy out of a loop if the operand is
// loop-invariant. It may then allocate the same registers to another left operand, so that all iterations but the first
// use the wrong operand. (This was seen with ptxas 13.0 in an attention kernel in which both dots take their left
// operands from registers, one dot after the other.) ptxas does not report the error, so the compiler inspects the
// machine code. If a loop overwrites a held operand, the kernel is assembled again from PTX in which held operands
// appear to be loop-variant:
//
//   @!never bra $Lheld0;                  // never: no grid has a size of zero
//   add.u32 %r166, %r166, %zero; …
//   $Lheld0:
//   wgmma.mma_async … {…}, {%r166, …}, …
//
// ptxas then copies the operands in each iteration.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

/// Returns the PTX with a guard, as shown above, before each use of held operands; empty if there are no held operands.
std::string guardHeldOperands(llvm::StringRef ptx);

/// Returns true unless some loop of the cubin writes registers of a left operand only after the wgmma that reads them.
/// Also returns true if the code cannot be decoded.
bool keepsHeldOperands(llvm::StringRef cubin);

} // namespace tile::codegen
