// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits for several mbarriers at once.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Tries mbarriers together that are awaited with nothing but products issued between them: a wait takes some 70 cycles
/// also where its phase has long completed, for the answer and for the branch, and two of them as long as one.
///
///   wait a; product x; wait b; product y   ==>   wait a, b; product x; product y
///
/// The producer waits for nothing that is done between them, so that both slots are filled whatever the order.
void joinWaits(llvm::Function &function);

} // namespace tile::codegen
