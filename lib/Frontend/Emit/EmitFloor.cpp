// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Semantics of --std=tile1: integer division that rounds down, and tensor elements by index.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Syntax/Literals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::frontend {

/// Returns an upper bound of a value by following a few operations of index arithmetic; nullopt if the value may be
/// negative or wrap around.
static std::optional<int64_t> getUpperBound(mlir::Value value, unsigned depth = 0) {
  constexpr unsigned maxDepth = 6; // values with several uses are visited several times
  using Bound = std::optional<int64_t>;
  if (depth == maxDepth)
    return std::nullopt;
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative() ? Bound(constant.getSExtValue()) : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (auto range = dyn_cast_if_present<ArangeOp>(op))
    return int32_t(range.getStart()) >= 0
               ? Bound(int64_t(int32_t(range.getStart())) + range.getType().getNumElements() - 1)
               : std::nullopt;
  if (isa_and_present<ProgramIdOp, NumProgramsOp, Swizzle2dOp>(op))
    return std::numeric_limits<int32_t>::max();
  bool isKnown = isa_and_present<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::RemSIOp, arith::ExtSIOp,
                                 arith::MinSIOp, arith::MaxSIOp, SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp>(op);
  if (!isKnown)
    return std::nullopt;
  SmallVector<int64_t, 2> bounds;
  for (mlir::Value operand : op->getOperands()) {
    Bound bound = getUpperBound(operand, depth + 1);
    if (!bound)
      return std::nullopt;
    bounds.push_back(*bound);
  }
  int64_t bound = bounds.front();
  bool overflows = (isa<arith::AddIOp>(op) && llvm::AddOverflow(bounds[0], bounds[1], bound)) ||
                   (isa<arith::MulIOp>(op) && llvm::MulOverflow(bounds[0], bounds[1], bound));
  if (isa<arith::MaxSIOp>(op))
    bound = std::max(bounds[0], bounds[1]);
  unsigned width = getElementTypeOf(value.getType()).getIntOrFloatBitWidth();
  return !overflows && llvm::isIntN(width, bound) ? Bound(bound) : std::nullopt;
}

/// Returns true if the value is known to be non-negative, so that rounding down equals rounding towards zero.
static bool isNonNegative(mlir::Value value) {
  return getUpperBound(value).has_value();
}

SymValue Emitter::floorDivision(bool isRemainder, const SymValue &left, const SymValue &right, SourceRange range) {
  Location loc = location(range);
  mlir::Value a = left.value, b = right.value;
  auto result = [&](mlir::Value value) { return SymValue::makeTensor(value, left.type); };
  if (left.type.isUnsigned())
    return result(isRemainder ? arith::RemUIOp::create(builder, loc, a, b).getResult()
                              : arith::DivUIOp::create(builder, loc, a, b).getResult());
  mlir::Value quotient, remainder;
  if (!isRemainder)
    quotient = arith::DivSIOp::create(builder, loc, a, b);
  if (isNonNegative(a) && isNonNegative(b))
    return result(isRemainder ? arith::RemSIOp::create(builder, loc, a, b).getResult() : quotient);
  // Subtract one if the signs differ and the remainder is nonzero.
  remainder = arith::RemSIOp::create(builder, loc, a, b);
  mlir::Value zero = makeSplat(Value(Int128(0)), left.type, left.shape(), range).value;
  mlir::Value isUneven = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, remainder, zero);
  mlir::Value signs = arith::XOrIOp::create(builder, loc, remainder, b);
  mlir::Value differ = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, signs, zero);
  mlir::Value isLower = arith::AndIOp::create(builder, loc, isUneven, differ);
  mlir::Value lower;
  if (isRemainder) {
    lower = arith::AddIOp::create(builder, loc, remainder, b);
  } else {
    mlir::Value one = makeSplat(Value(Int128(1)), left.type, left.shape(), range).value;
    lower = arith::SubIOp::create(builder, loc, quotient, one);
  }
  return result(arith::SelectOp::create(builder, loc, isLower, lower, isRemainder ? remainder : quotient));
}

/// Returns the unsigned integer type of the same width.
static DType bitsType(DType type) {
  switch (type.bits()) {
  case 8:
    return Scalar::UInt8;
  case 16:
    return Scalar::UInt16;
  case 32:
    return Scalar::UInt32;
  default:
    return Scalar::UInt64;
  }
}

/// Selects the element by masking all others and an OR reduction of the bits along the dimension, which preserves every
/// value. An index that is out of bounds gives zero.
SymValue Emitter::elementAt(const SymValue &value, size_t axis, const SymValue &index, SourceRange range) {
  if (value.isScalar())
    return error(Diag::scalar_subscript, range, {describe(value)});
  if (axis >= value.shape().size())
    return error(Diag::too_many_subscripts, range, {std::to_string(axis + 1), describe(value)});
  if (value.type.isPointer)
    return error(Diag::not_supported, range, {"an element of a block of pointers"});
  int64_t size = value.shape()[axis];
  SymValue position = index;
  if (std::optional<Int128> number = index.isConstant() ? asInteger(index.constant) : std::nullopt) {
    if (*number < -size || *number >= size)
      return error(Diag::element_range, range, {toString(*number), std::to_string(size)});
    position = SymValue::makeConstant(*number < 0 ? *number + size : *number);
  } else if (!index.isScalar() || !index.type.isInt() || index.type.isBool()) {
    return error(Diag::element_index, range, {describe(index)});
  }
  SymValue indices = arange(0, size, range);
  for (size_t dim = 0; dim < value.shape().size() && !indices.isError(); ++dim)
    if (dim != axis)
      indices = expandDims(indices, static_cast<int64_t>(dim), range);
  if (indices.isError())
    return {};
  DType type = value.type, wide = type.isBool() ? DType(Scalar::UInt8) : bitsType(type);
  SymValue bits = type.isBool() ? cast(value, wide, range) : bitcast(value, wide, range);
  SymValue chosen =
      select(compare(CompareOp::Eq, indices, position, range), bits, makeNumber(Value(Int128(0)), wide, range), range);
  if (chosen.isError())
    return {};
  const BuiltinInfo *reduction = findBuiltin("reduce_or");
  BuiltinCall call{*this, *reduction, range, {}};
  call.arguments.push_back({"input", chosen, range, true});
  call.arguments.push_back({"axis", SymValue::makeConstant(Int128(axis)), range, true});
  call.arguments.push_back({"keep_dims", SymValue::makeConstant(false), range, true});
  SymValue joined = reduction->emit(*this, call);
  if (joined.isError() || type.isBool())
    return cast(joined, type, range);
  return bitcast(cast(joined, wide, range), type, range);
}

} // namespace tile::frontend
