// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits for wgmmas before copies of their accumulators.
//
// An accumulator that is in flight at the end of a loop is awaited after it. If its initial value, a zero, is also used
// elsewhere in the loop, LLVM's register allocation keeps both apart, and copies the accumulator where they meet:
//
//   @%p1 bra $L__BB0_9;                           // the loop
//   mov.b32 %r922, %r886;                         // while a wgmma may still write %r886
//   $L__BB0_11:
//   wgmma.wait_group.sync.aligned 0;
//
// Such a copy is undefined (PTX ISA, "wgmma.mma_async"). Code generation has no place where this can be prevented: the
// copies are inserted after the last pass that sees LLVM IR.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tile::codegen {

/// Inserts a wait for all wgmmas before each copy of a register that one of them may still write.
std::string awaitBeforeCopies(llvm::StringRef ptx);

} // namespace tile::codegen
