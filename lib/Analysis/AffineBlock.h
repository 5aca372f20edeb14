// Integers and pointers that grow linearly along each dimension of a tensor.
//
//   %p = a + (rows[:, None] * lda + ks[None, :]) + first * lda        base a, start first*lda, steps [lda, 1]
//
// A value that a loop carries and bumps by the same amount in each iteration is a function of the induction variable:
//
//   for %k = 0 to %n { … %p … yield %p + 32 }                         start grows by 32*k
#pragma once

#include "Analysis/AxisInfo.h"
#include "Analysis/Polynomial.h"

#include "llvm/ADT/DenseMap.h"

namespace tile {

/// Element [i0, i1, …] is base + start + steps[0]*i0 + steps[1]*i1 + …; pointers in elements of the pointee. A scalar
/// has no steps.
struct AffineBlock {
  mlir::Value base; ///< A scalar pointer; null for integers.
  Polynomial start;
  llvm::SmallVector<Polynomial, 2> steps;

  bool isUniform() const;
  bool isExact() const;
};

class AffineBlocks {
public:
  /// `facts` says which zero-extensions change nothing.
  explicit AffineBlocks(AxisInfoAnalysis &facts) : facts(facts) {}

  /// A scalar always has a form: if nothing else, itself as the only factor or base.
  std::optional<AffineBlock> get(mlir::Value value);

private:
  std::optional<AffineBlock> compute(mlir::Value value);
  std::optional<AffineBlock> computeCarried(mlir::BlockArgument argument);
  std::optional<AffineBlock> computeResult(mlir::Operation *op);
  std::optional<AffineBlock> combine(mlir::Operation *op);

  AxisInfoAnalysis &facts;
  llvm::DenseMap<mlir::Value, std::optional<AffineBlock>> known;
  unsigned depth = 0;
};

} // namespace tile
