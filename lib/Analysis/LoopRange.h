// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The range that a loop counts through, and what is computed of it on the device.
//
// A loop from `lower` to `upper` in steps of `step` has the iterations of Python's range: as many as there are integers
// lower, lower + step, … below `upper`. The next one may lie beyond the largest integer of the type, and the distance
// of the bounds may be no signed integer of it. So nothing here computes lower + n * step of an iteration that may not
// exist to compare it, and distances are unsigned.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace tile {

/// Returns the number of iterations as an unsigned integer of the variable's width; none if bounds and step are not
/// constant, or the step is not positive.
std::optional<llvm::APInt> countIterations(mlir::scf::ForOp loop);

/// Bounds and step of a loop. Values are emitted where the builder is, and folded if they are constant. Steps are
/// positive, as the language demands.
class LoopRange {
  using Value = mlir::Value;

public:
  LoopRange(mlir::OpBuilder &builder, mlir::scf::ForOp loop);
  LoopRange(mlir::OpBuilder &builder, mlir::Location loc, Value lower, Value upper, Value step, bool isUnsigned = false)
      : lower(lower), upper(upper), step(step), isUnsigned(isUnsigned), builder(builder), loc(loc) {}

  Value lower, upper, step;
  bool isUnsigned;

  /// Whether there is an iteration.
  Value emitAny() { return emitLess(lower, upper); }
  /// The number of iterations, an unsigned integer.
  Value emitCount();
  /// The bound below which are the variables of iterations that `distance` others follow: upper - distance * step, but
  /// not less than the smallest integer.
  Value emitLimit(unsigned distance);
  /// lower + index * step. It wraps where there is no such iteration.
  Value emitVariable(Value index);
  /// The range without its first iteration, if it has one: its lower bound is lower + step also where that wraps, and
  /// it is empty then.
  LoopRange emitWithoutFirst();
  /// The range if `condition` holds, and else an empty one with the same lower bound.
  LoopRange emitIf(Value condition);

  /// Whether lower + index * step is known to be an integer of the type.
  bool isRepresentable(unsigned index) const;
  /// Whether the first of the integers lower, lower + step, … that is not below `upper` is known to be one of the type.
  bool hasRepresentableEnd() const;

  Value emitLess(Value a, Value b);
  /// Constants of the variable's type.
  Value constant(const llvm::APInt &value);
  Value constant(int64_t value);
  unsigned getWidth() const;

private:
  template <typename OpType> Value emit(Value a, Value b) { return builder.createOrFold<OpType>(loc, a, b); }
  Value emitSaturatedSub(Value bound, Value distance);

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace tile
