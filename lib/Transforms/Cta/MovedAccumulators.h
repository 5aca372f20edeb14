// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds wgmmas whose accumulators do not stay in the registers in which they are computed.
//
//   for iter_args(%x, %y) {              %x1 replaces %y, which is still live when the wgmma is issued: its registers
//     %x1 = wgmma … %x; wait             have to be copied, and not before the wait
//     yield %y, %x1 }
#pragma once

#include "Cta/CtaDialect.h"

namespace tile {

/// Returns the awaits of wgmmas whose accumulators move. An accumulator to which a loop only adds does not move, even
/// if the additions are in branches or there is other arithmetic on the accumulator before the wgmma.
llvm::SmallVector<cta::AwaitOp> findMovedAccumulators(KernelOp kernel);

} // namespace tile
