// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Works around a ptxas bug with left wgmma operands that a loop holds in registers.
//
// ptxas copies each left operand into consecutive registers, and hoists that copy out of a loop if the operand is
// loop-invariant. It may then allocate the same registers to another left operand, so that all iterations but the first
// use the wrong operand (ptxas 13.0; attention in which both dots take their left operands from registers, one dot at a
// time). ptxas does not report this. The machine code is therefore inspected. If a loop overwrites a held operand, the
// PTX makes such operands appear loop-variant:
//
//   @!never bra $Lheld0;                  // never: no grid has a size of zero
//   add.u32 %r166, %r166, %zero; …
//   $Lheld0:
//   wgmma.mma_async … {…}, {%r166, …}, …
//
// ptxas then copies them in each iteration.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

/// Returns the PTX of a kernel with its held operands guarded; empty if it holds none.
std::string guardHeldOperands(llvm::StringRef ptx);

/// Returns true if no loop of the cubin writes registers of a left operand after the wgmma that reads them without
/// writing them before it. Also returns true if the code cannot be decoded.
bool keepsHeldOperands(llvm::StringRef cubin);

} // namespace tile::codegen
