// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes upper bounds of index arithmetic, even if the exact value needs more bits than the program's types.
//
//   for %i = 0 to (K + 15) / 16 { … %p … yield %p + 16 }      16 * %i <= 2^31 - 32, from the bounds of %i
//   for %i = 0 to (K - %first) / 16 { … %first + 16 * %i       %first + 16 * %i <= K - 16
//   %rows = 64 * %pid + arange 0 to 64, of 32 bits            64 * %pid <= 2^31 - 64, since %rows does not overflow
#pragma once

#include "Analysis/Addresses/AffineBlock.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {

class IndexBounds {
public:
  explicit IndexBounds(AffineBlocks &blocks) : blocks(blocks) {}

  /// Returns an upper bound of `number` at the place where `user` is computed. All factors of the polynomial must be
  /// non-negative.
  int64_t getUpperBound(const Polynomial &number, mlir::Value user);

private:
  int64_t getUpperBound(const Polynomial &number);
  int64_t getBoundAtLoopEnds(const Polynomial &number);
  std::optional<Polynomial> getLast(const Polynomial::Term &counted);
  int64_t getAlignmentOfVariable(mlir::scf::ForOp loop);
  int64_t getUpperBound(mlir::Value factor);
  int64_t getBoundOfOperation(mlir::Operation *op);

  AffineBlocks &blocks;
  unsigned depth = 0;
};

} // namespace tile
