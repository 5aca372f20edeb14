// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One product of warp groups stays in flight: what waits for it waits behind the next one.
//
//   for k, (%acc):                          if there is any k:
//     %d, %t = wgmma … %acc                   for k, (%acc = undefined, previous slot = none, %previous = none):
//     %r = await %d after %t       ==>          %d, %t = wgmma … %acc if there is a previous slot
//     …                                         %r = await %d after %previous
//                                               …
//                                           await after the last %t
//
// A sum that starts from zero is not set to zero: the first product does not read it. The first iteration does not
// stand apart, since ptxas takes 0.01 s for each wgmma of 256 columns; LLVM would peel it off if the flag were one, or
// a comparison of k. So it follows from a slot that the loop carries. (Loops of a few constant steps it unrolls.)
#pragma once

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {

/// The only product of the loop's body, and what awaits it, if the sum is seen by nothing else in the loop and in
/// `index` of its arguments; the operands are in shared memory.
struct LoopProduct {
  cta::WgmmaOp product;
  cta::AwaitOp await;
  unsigned index = 0;

  static std::optional<LoopProduct> of(mlir::scf::ForOp loop);
};

/// What is inside the loop in each iteration for the iteration before it.
struct LoopInFlight {
  mlir::Value isLater; ///< Whether there is an iteration before this one.
  /// What `slots` were there, and what they are in the last iteration, where the loop has been.
  llvm::SmallVector<mlir::Value> previous, last;
  mlir::Value previousToken, lastToken; ///< The same of the product.
};

/// Replaces the loop; `slots`, at least one, are slots of rings, or of buffers by their number, computed in its body.
/// Leaves the builder behind what awaits the last product. Signed bounds.
LoopInFlight keepInFlight(mlir::IRRewriter &rewriter, mlir::scf::ForOp loop, const LoopProduct &product,
                          mlir::ValueRange slots);

} // namespace tile
