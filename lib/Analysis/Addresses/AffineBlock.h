// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Affine forms: integers and pointers that grow linearly along each dimension of a tensor.
//
//   %p = a + (rows[:, None] * lda + ks[None, :]) + first * lda        base a, start first*lda, steps [lda, 1]
//
// A loop-carried value that grows by the same amount in each iteration is a function of the induction variable:
//
//   for %k = 0 to %n { … %p … yield %p + 32 }                         start grows by 32*k
//
// Some forms hold only in a part of the tensor, their domain:
//
//   (first + rows) % M, select(first + rows < M, first + rows, 0)     first + rows where rows < M - first
#pragma once

#include "Analysis/Addresses/AxisInfo.h"
#include "Analysis/Addresses/Polynomial.h"

#include "llvm/ADT/DenseMap.h"

namespace tile {

class ShapeChange;

/// The condition `index < bound` along dimension `dim`. Without a bound, it is some other condition on that dimension's
/// index; without a dimension, it depends on the indices of several dimensions.
struct Condition {
  std::optional<unsigned> dim;
  std::optional<Polynomial> bound;

  bool isBoundary() const { return dim && bound && bound->isExact(); }
  bool operator==(const Condition &) const = default;
};
using Conditions = llvm::SmallVector<Condition, 2>;

/// Element [i0, i1, …] is base + start + steps[0]*i0 + steps[1]*i1 + …; for pointers, the terms count elements of the
/// pointee. A scalar has no steps.
struct AffineBlock {
  mlir::Value base; ///< A scalar pointer; null for integers.
  Polynomial start;
  llvm::SmallVector<Polynomial, 2> steps;
  Conditions domain; ///< The conditions of the domain, all of them boundaries. Elements outside have unknown values.

  bool isUniform() const;
  bool isExact() const;
};

class AffineBlocks {
public:
  /// `facts` says which integers are non-negative.
  explicit AffineBlocks(AxisInfoAnalysis &facts) : facts(facts) {}

  /// Returns the exact affine form of `value`, or nullopt. Every scalar has a form: at worst, its only factor or base
  /// is the scalar itself.
  std::optional<AffineBlock> get(mlir::Value value);

  /// Returns conditions such that the mask is true exactly where all of them hold.
  Conditions getConditions(mlir::Value mask);

private:
  std::optional<AffineBlock> compute(mlir::Value value);
  std::optional<AffineBlock> computeCarried(mlir::BlockArgument argument);
  std::optional<AffineBlock> computeResult(mlir::Operation *op);
  std::optional<AffineBlock> computeShape(ShapeChange change);
  std::optional<AffineBlock> computeArithmetic(mlir::Operation *op);
  std::optional<AffineBlock> computeRemainder(mlir::Operation *op);
  Conditions computeConditions(mlir::Operation *op);
  Condition compare(mlir::Operation *op);

  AxisInfoAnalysis &facts;
  llvm::DenseMap<mlir::Value, std::optional<AffineBlock>> known;
  llvm::DenseMap<mlir::Value, Conditions> knownConditions;
  unsigned depth = 0;
};

} // namespace tile
