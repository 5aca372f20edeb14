// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Joins waits for several mbarriers.
#pragma once

namespace llvm {
class Function;
}

namespace tile::codegen {

/// Joins waits for mbarriers if only wgmmas are issued between them. A wait takes about 70 cycles even if its phase
/// completed long ago, because of the result of the test and the branch; two joined waits take only as long as one.
///
///   wait a; wgmma x; wait b; wgmma y   ==>   wait a, b; wgmma x; wgmma y
///
/// This cannot cause a deadlock: the producer does not wait for anything that happens between the two waits, so it
/// fills both slots in any case, whatever the order.
void joinWaits(llvm::Function &function);

} // namespace tile::codegen
