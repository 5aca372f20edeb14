// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values that control flow hands on: what loops carry, and what branches result in. All of one have the same type.
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
  llvm::SmallVector<mlir::Value, 2> values; ///< The first stands for all.
  llvm::SmallVector<mlir::OpOperand *, 2> operands;

  /// The one that `value` is of, or none.
  static std::optional<CarriedValue> of(mlir::Value value);

  /// The one that takes what the operand hands on, or none.
  static std::optional<CarriedValue> fedBy(mlir::OpOperand &operand);
};

} // namespace tile
