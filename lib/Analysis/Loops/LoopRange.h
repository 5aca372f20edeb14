// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The iteration range of a loop, and values computed from it on the device.
//
// A loop from `lower` to `upper` in steps of `step` has the iterations of Python's range: one for each of the integers
// lower, lower + step, … below `upper`. The integer after the last one may not be representable in the type, and the
// distance between the bounds may not be representable as a signed integer. So comparisons never use lower + n * step
// of an iteration that may not exist, and distances are unsigned.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

#include <optional>

namespace tile {

class AxisInfoAnalysis;

/// Returns the number of iterations as an unsigned integer of the variable's width; nullopt if the bounds or the step
/// are not constant, or the step is not positive.
std::optional<llvm::APInt> countIterations(mlir::scf::ForOp loop);

/// Returns the largest number of iterations that the ranges of the bounds allow; the largest integer if nothing is
/// known.
uint64_t boundIterations(mlir::scf::ForOp loop, AxisInfoAnalysis &axisInfo);

/// The bounds and the step of a loop. Values are emitted at the builder's insertion point, and folded if they are
/// constant. The step must be positive, as the language requires.
class LoopRange {
  using Value = mlir::Value;

public:
  LoopRange(mlir::OpBuilder &builder, mlir::scf::ForOp loop);
  LoopRange(mlir::OpBuilder &builder, mlir::Location loc, Value lower, Value upper, Value step, bool isUnsigned = false)
      : lower(lower), upper(upper), step(step), isUnsigned(isUnsigned), builder(builder), loc(loc) {}

  Value lower, upper, step;
  bool isUnsigned;

  /// Emits a condition that is true if there is an iteration.
  Value emitAny() { return emitLess(lower, upper); }
  /// Emits the number of iterations, an unsigned integer.
  Value emitCount();
  /// Emits a bound for the induction variable: if the variable is below the bound in some iteration, at least
  /// `distance` further iterations follow. The bound is upper - distance * step, but not less than the smallest
  /// integer.
  Value emitLimit(unsigned distance);
  /// Emits lower + index * step, which may wrap around if there is no such iteration.
  Value emitVariable(Value index);
  /// Returns the range without its first iteration (if there is one). The new lower bound is lower + step even if that
  /// sum wraps around, in which case the range is empty.
  LoopRange emitWithoutFirst();
  /// Returns the range if `condition` holds, otherwise an empty range with the same lower bound.
  LoopRange emitIf(Value condition);

  /// Returns true if lower + index * step is known to be representable in the type.
  bool isRepresentable(unsigned index) const;
  /// Returns true if the first of the integers lower, lower + step, … that is not below `upper` is known to be
  /// representable.
  bool hasRepresentableEnd() const;

  Value emitLess(Value a, Value b);
  /// Emits constants of the variable's type.
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
