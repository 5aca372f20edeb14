// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Determines which TMA copies of one program may write the same element, and so must be ordered.
//
//   scf.for %j = 0 to %n step 64 {                     stores of successive iterations: 64 columns apart
//     cta.tma_store %b, %d[%i, %j]                     the two stores of an iteration: 32 rows apart
//     cta.tma_store %c, %d[%i + 32, %j] }
//   scf.for %s { cta.tma_store %b, %d[4 * %s, %j] }    overlap, if blocks have more than 4 rows
//   scf.for %t { cta.tma_store %b, %d[%t / 8, %j] }    unknown: may overlap
//
// The programs of a grid are unordered, so tile.programs does not order the stores of different programs.
#pragma once

#include "Analysis/Addresses/AffineBlock.h"
#include "Cta/CtaDialect.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace tile {

class StoreOverlap {
public:
  explicit StoreOverlap(KernelOp kernel);

  /// Returns true if both copies may write the same element. With `inOtherIteration`, `earlier` is executed in a
  /// previous iteration of some loop around both copies, but not in another program.
  bool mayOverlap(cta::TmaStoreOp earlier, cta::TmaStoreOp later, bool inOtherIteration);

  /// Returns true if, for each element that both copies write, the same thread issues both copies.
  bool areOfOneThread(cta::TmaStoreOp earlier, cta::TmaStoreOp later);

private:
  /// Returns by how many elements `later` is greater than `earlier`, if that is a constant; otherwise nullopt.
  std::optional<int64_t> distance(mlir::Value earlier, mlir::Value later);
  bool areApart(cta::TmaStoreOp earlier, cta::TmaStoreOp later);
  bool areApartInOtherIterations(cta::TmaStoreOp earlier, cta::TmaStoreOp later, mlir::LoopLikeOpInterface loop);
  Polynomial polynomialOf(mlir::Value value);

  AxisInfoAnalysis facts;
  AffineBlocks blocks;
};

} // namespace tile
