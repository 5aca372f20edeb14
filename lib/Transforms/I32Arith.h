// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants and arithmetic on i32, for values computed on the device.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace tile {

inline mlir::Value emitI32(mlir::OpBuilder &builder, mlir::Location loc, int64_t value) {
  return mlir::arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
}

/// Emits arithmetic at one location.
class I32Arith {
  using Value = mlir::Value;
  using Predicate = mlir::arith::CmpIPredicate;

public:
  I32Arith(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  Value constant(int64_t value) { return emitI32(builder, loc, value); }
  Value add(Value a, Value b) { return mlir::arith::AddIOp::create(builder, loc, a, b); }
  Value sub(Value a, Value b) { return mlir::arith::SubIOp::create(builder, loc, a, b); }
  Value mul(Value a, Value b) { return mlir::arith::MulIOp::create(builder, loc, a, b); }
  /// Divides non-negative integers.
  Value div(Value a, Value b) { return mlir::arith::DivUIOp::create(builder, loc, a, b); }
  Value ceilDiv(Value a, Value b) { return div(add(a, sub(b, constant(1))), b); }
  Value min(Value a, Value b) { return mlir::arith::MinSIOp::create(builder, loc, a, b); }
  Value max(Value a, Value b) { return mlir::arith::MaxSIOp::create(builder, loc, a, b); }
  Value less(Value a, Value b) { return mlir::arith::CmpIOp::create(builder, loc, Predicate::slt, a, b); }
  Value equal(Value a, Value b) { return mlir::arith::CmpIOp::create(builder, loc, Predicate::eq, a, b); }
  Value both(Value a, Value b) { return mlir::arith::AndIOp::create(builder, loc, a, b); }
  Value flip(Value parity) { return mlir::arith::XOrIOp::create(builder, loc, parity, constant(1)); }
  Value select(Value c, Value a, Value b) { return mlir::arith::SelectOp::create(builder, loc, c, a, b); }

private:
  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace tile
