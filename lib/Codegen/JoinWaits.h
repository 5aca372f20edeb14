// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joins waits for several mbarriers.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Joins waits for mbarriers with only wgmmas issued between them. A wait takes some 70 cycles even if its phase
/// completed long ago, for the result of the test and the branch; two joined waits take as long as one.
///
///   wait a; wgmma x; wait b; wgmma y   ==>   wait a, b; wgmma x; wgmma y
///
/// This cannot deadlock: the producer waits for nothing that happens between the two waits, so it fills both slots in
/// any order.
void joinWaits(llvm::Function &function);

} // namespace tile::codegen
