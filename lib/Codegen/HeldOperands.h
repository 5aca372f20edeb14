// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Left operands of warp groups' products that a loop holds in registers, and ptxas may lose.
//
// ptxas copies each left operand into registers next to each other, and that copy out of a loop if the operand is the
// same in all iterations; but then it may put another left operand into the same registers, so that all iterations but
// the first multiply that one (ptxas 13.0; attention whose scores and output are both multiplied from
// registers, one product at a time). Nothing is said about it. So the machine code is looked at, and where a loop
// writes what it holds, operands are made to look like ones that change:
//
//   @!never bra $Lheld0;                  // never: no grid has a size of zero
//   add.u32 %r166, %r166, %zero; …
//   $Lheld0:
//   wgmma.mma_async … {…}, {%r166, …}, …
//
// They are copied in each iteration then.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

/// The PTX of a kernel with its held operands guarded; empty if it holds none.
std::string guardHeldOperands(llvm::StringRef ptx);

/// Whether no loop of the cubin writes registers of a left operand behind the product that reads them, and not in front
/// of it. True if the code is not understood.
bool keepsHeldOperands(llvm::StringRef cubin);

} // namespace tile::codegen
