// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits for wgmmas before copies of their accumulators.
//
// If an accumulator is in flight at the end of a loop, the wait follows the loop. If the accumulator's initial value, a
// zero, is also used elsewhere in the loop, LLVM's register allocation keeps the zero and the accumulator in separate
// registers, and copies the accumulator where control flow joins:
//
//   @%p1 bra $L__BB0_9;                           // the loop
//   mov.b32 %r922, %r886;                         // while a wgmma may still write %r886
//   $L__BB0_11:
//   wgmma.wait_group.sync.aligned 0;
//
// Such a copy is undefined behaviour (PTX ISA, "wgmma.mma_async"). Nothing earlier in code generation can prevent it,
// because the copies are inserted after the last pass on LLVM IR.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

/// Inserts a wait for all wgmmas before each copy of a register that a pending wgmma may still write.
std::string awaitBeforeCopies(llvm::StringRef ptx);

} // namespace tile::codegen
