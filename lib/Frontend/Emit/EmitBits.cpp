// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits bit operations and shifts.
//
// A shift by the width or more gives the result of repeated shifts by one: 0, or copies of the sign. PTX shifts do the
// same, but in arith such shifts are undefined and LLVM may fold them to anything, so the IR handles them explicitly:
//
//   x << n   ==>   select(n <u 32, x << n, 0)            x >> n, signed   ==>   x >> min(n, 31)
//
// LLVM folds the select to PTX's plain shift. If n is known to be smaller than the width, neither the select nor the
// min is emitted.

#include "Frontend/Emit/EmitBits.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;

namespace tile::frontend {

/// Returns an upper bound of an unsigned integer that follows from the operations that compute it; saturates far above
/// the width of any type.
static uint64_t unsignedBound(mlir::Value value) {
  constexpr uint64_t unknown = 1 << 16;
  llvm::APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getLimitedValue(unknown);
  Operation *op = value.getDefiningOp();
  if (!op)
    return unknown;
  uint64_t bound =
      llvm::TypeSwitch<Operation *, uint64_t>(op)
          .Case<SplatOp, BroadcastOp, ExpandDimsOp, arith::ExtUIOp>(
              [](Operation *inner) { return unsignedBound(inner->getOperand(0)); })
          .Case([](ArangeOp range) { return range.getStart() < 0 ? unknown : uint64_t(range.getEnd()) - 1; })
          .Case<arith::AndIOp, arith::MinUIOp>([](Operation *least) {
            return std::min(unsignedBound(least->getOperand(0)), unsignedBound(least->getOperand(1)));
          })
          // A remainder is smaller than its nonzero divisor.
          .Case([](arith::RemUIOp remaining) { return std::max<uint64_t>(unsignedBound(remaining.getRhs()), 1) - 1; })
          .Case([](arith::RemSIOp remaining) {
            bool hasSign = unsignedBound(remaining.getLhs()) == unknown || unsignedBound(remaining.getRhs()) == unknown;
            return hasSign ? unknown : std::max<uint64_t>(unsignedBound(remaining.getRhs()), 1) - 1;
          })
          .Case<arith::AddIOp>(
              [](arith::AddIOp sum) { return unsignedBound(sum.getLhs()) + unsignedBound(sum.getRhs()); })
          .Case<arith::MulIOp>(
              [](arith::MulIOp product) { return unsignedBound(product.getLhs()) * unsignedBound(product.getRhs()); })
          .Default(unknown);
  return std::min(bound, unknown);
}

static mlir::Value emitShift(Emitter &sema, BinaryOp op, bool isSigned, const SymValue &value, const SymValue &amount,
                             SourceRange range) {
  OpBuilder &builder = sema.builder;
  Location loc = sema.location(range);
  unsigned width = value.type.bits();
  mlir::Value x = value.value, n = amount.value;
  bool staysInside = unsignedBound(n) < width;
  auto splat = [&](int64_t number) {
    return sema.makeSplat(frontend::Value(Int128(number)), value.type, value.shape(), range).value;
  };
  if (op == BinaryOp::RShift && isSigned)
    return arith::ShRSIOp::create(builder, loc, x,
                                  staysInside ? n : arith::MinUIOp::create(builder, loc, n, splat(width - 1)));
  mlir::Value shifted = op == BinaryOp::LShift ? arith::ShLIOp::create(builder, loc, x, n).getResult()
                                               : arith::ShRUIOp::create(builder, loc, x, n).getResult();
  if (staysInside)
    return shifted;
  mlir::Value isInside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, n, splat(width));
  return arith::SelectOp::create(builder, loc, isInside, shifted, splat(0));
}

SymValue emitBits(Emitter &sema, BinaryOp op, SymValue left, SymValue right, SourceRange range) {
  // A right shift is arithmetic according to the type of its left operand before promotion or, if that is a literal, of
  // the amount.
  bool isSigned = !(left.isConstant() ? right : left).type.isUnsigned();
  std::string operands[] = {describe(left), describe(right)};
  if (!sema.unify(left, right, /*isDivision=*/false, range))
    return {};
  if (!left.type.isInt())
    return sema.error(Diag::integer_operands, range,
                      {std::string(spelling(op)), "integers", operands[0] + " and " + operands[1]});
  Location loc = sema.location(range);
  mlir::Value a = left.value, b = right.value, result;
  switch (op) {
  case BinaryOp::BitAnd:
    result = arith::AndIOp::create(sema.builder, loc, a, b);
    break;
  case BinaryOp::BitOr:
    result = arith::OrIOp::create(sema.builder, loc, a, b);
    break;
  case BinaryOp::BitXor:
    result = arith::XOrIOp::create(sema.builder, loc, a, b);
    break;
  default:
    result = emitShift(sema, op, isSigned, left, right, range);
    break;
  }
  return SymValue::makeTensor(result, left.type);
}

} // namespace tile::frontend
