// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that control flow passes on: values carried by loops, and results of branches. The values and operands that
// belong to one carried value all have the same type.
#pragma once

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace tile {

///   %r = scf.for … iter_args(%a = %init) { … yield %y }        values %a, %r; operands %init, %y
///   %r = scf.if %c { yield %x } else { yield %y }              values %r;     operands %x, %y
///   %r = scf.while (%a = %init) {                              values %a;     operands %init, %y
///     condition(%c) %v } do { ^(%b): … yield %y }              values %b, %r; operands %v
struct CarriedValue {
  llvm::SmallVector<mlir::Value, 2> values; ///< `values[0]` represents the carried value.
  llvm::SmallVector<mlir::OpOperand *, 2> operands;

  /// Returns the carried value that `value` belongs to, or nullopt.
  static std::optional<CarriedValue> of(mlir::Value value);

  /// Returns the carried value to which `operand` is passed, or nullopt.
  static std::optional<CarriedValue> fedBy(mlir::OpOperand &operand);
};

} // namespace tile
