// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-invert-divisors: replace divisions by a loop invariant with multiplications by a reciprocal.
//
// The coordinates of a program's tile are computed from the program's index by divisions, for example by the grid's
// width or by the number of programs in a group. Both roles need the coordinates before each program, and the producer
// needs them even before its very first copy. A 32-bit division takes about 150 cycles of dependent instructions. The
// divisors depend only on the kernel's arguments, so their reciprocals can be computed once, while the barriers are
// initialized:
//
//   for p:  q = p / d; r = p mod d   ==>   m = (2^32 - 1) / d
//                                          for p:  q = high 32 bits of p * m; r = p - q * d
//                                                  if r >= d: q += 1, r -= d
//
// This is exact for all 32-bit integers: 2^32 - d <= m * d < 2^32, so p * m / 2^32 is at most p / 2^32 < 1 less than p
// / d. Signed divisions of non-negative values use the divisor's magnitude, and the quotient gets the divisor's sign.
// The pass does not use AxisInfo to prove that values are non-negative, because AxisInfo assumes that integers do not
// overflow. This holds for indices, but not for all integers.
//
// The last group of rows may be smaller than the others. So if a divisor is the minimum of a value and a constant, it
// is nearly always the constant, and a division by a constant takes one multiplication:
//
//   q = n / min(x, C)   ==>   q = (min(x, C) == C) ? n / C : n / min(x, C), by a branch
#include "Cta/CtaDialect.h"
#include "Transforms/I32Arith.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile {
#define GEN_PASS_DEF_CTAINVERTDIVISORS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// n / d or n mod d; n is non-negative if the division is signed.
struct Division {
  Operation *op;

  // Operands are read from `op` each time, because they may be results of divisions that are rewritten earlier.
  Value numerator() const { return op->getOperand(0); }
  Value divisor() const { return op->getOperand(1); }
  bool isRemainder() const { return isa<arith::RemUIOp, arith::RemSIOp>(op); }
  bool isSigned() const { return isa<arith::DivSIOp, arith::RemSIOp>(op); }
};

bool isInLoop(Operation *op) {
  return bool(op->getParentOfType<LoopLikeOpInterface>());
}

/// Returns true if the integer is never negative, even if its operands wrap.
bool isNonNegative(Value value) {
  if (APInt constant; matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument == loop.getInductionVar() && !loop.getUnsignedCmp() && isNonNegative(loop.getLowerBound());
  }
  Operation *op = value.getDefiningOp();
  if (isa<ProgramIdOp, NumProgramsOp, cta::ClusterIdOp, cta::NumClustersOp>(op))
    return true;
  if (isa<arith::RemSIOp>(op))
    return isNonNegative(op->getOperand(0));
  if (isa<arith::RemUIOp>(op))
    return llvm::any_of(op->getOperands(), isNonNegative);
  return isa<arith::DivUIOp, arith::DivSIOp, arith::MinSIOp>(op) && llvm::all_of(op->getOperands(), isNonNegative);
}

bool isDivision(Operation *op) {
  if (!isa<arith::DivUIOp, arith::RemUIOp, arith::DivSIOp, arith::RemSIOp>(op) ||
      !op->getResult(0).getType().isInteger(32) || matchPattern(op->getOperand(1), m_Constant()))
    return false;
  return !Division{op}.isSigned() || isNonNegative(op->getOperand(0));
}

/// Returns C if the divisor is min(x, C).
std::optional<int64_t> matchLimit(Value divisor) {
  Operation *op = divisor.getDefiningOp();
  if (!isa_and_present<arith::MinUIOp, arith::MinSIOp>(op))
    return std::nullopt;
  for (Value operand : op->getOperands())
    if (APInt limit; matchPattern(operand, m_ConstantInt(&limit)) && limit.isStrictlyPositive())
      return limit.getZExtValue();
  return std::nullopt;
}

class DivisorInverter {
public:
  explicit DivisorInverter(KernelOp kernel)
      : kernel(kernel), entry(OpBuilder::atBlockBegin(&kernel.getBody().front())), builder(kernel.getContext()) {}

  void run() {
    SmallVector<Swizzle2dOp> orders;
    kernel.walk([&](Swizzle2dOp op) { orders.push_back(op); });
    for (Swizzle2dOp op : orders)
      if (isInLoop(op))
        expand(op);

    SmallVector<Division> divisions;
    kernel.walk([&](Operation *op) {
      if (isInLoop(op) && isDivision(op))
        divisions.push_back({op});
    });
    for (const Division &division : divisions)
      rewrite(division);
  }

private:
  void expand(Swizzle2dOp op) {
    builder.setInsertionPoint(op);
    Location loc = op.getLoc();
    Value row = arith::MulIOp::create(builder, loc, op.getI(), op.getSizeJ());
    Value ij = arith::AddIOp::create(builder, loc, row, op.getJ());
    auto [i, j] = op.expand(builder, ij);
    op.replaceAllUsesWith(ValueRange{i, j});
    op.erase();
  }

  void rewrite(const Division &division) {
    builder.setInsertionPoint(division.op);
    Value result;
    if (Value divisor = atEntry(division.divisor()))
      result = multiply(division, divisor);
    else if (std::optional<int64_t> limit = matchLimit(division.divisor()))
      result = divideByLimit(division, *limit);
    else
      return;
    division.op->getResult(0).replaceAllUsesWith(result);
    division.op->erase();
  }

  Value mul(Location loc, Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
  Value sub(Location loc, Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }

  Value divideByLimit(const Division &division, int64_t limit) {
    Location loc = division.op->getLoc();
    Value numerator = division.numerator(), divisor = division.divisor(), constant = emitI32(builder, loc, limit);
    Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, divisor, constant);
    auto byConstant = [&](OpBuilder &nested, Location loc) {
      scf::YieldOp::create(nested, loc, arith::DivUIOp::create(nested, loc, numerator, constant).getResult());
    };
    auto byDivisor = [&](OpBuilder &nested, Location loc) {
      Value quotient = division.isSigned() ? arith::DivSIOp::create(nested, loc, numerator, divisor).getResult()
                                           : arith::DivUIOp::create(nested, loc, numerator, divisor).getResult();
      scf::YieldOp::create(nested, loc, quotient);
    };
    Value quotient = scf::IfOp::create(builder, loc, isWhole, byConstant, byDivisor).getResult(0);
    return division.isRemainder() ? sub(loc, numerator, mul(loc, quotient, divisor)) : quotient;
  }

  /// Emits the division by a reciprocal; `divisor` is the divisor, recomputed at the kernel's entry.
  Value multiply(const Division &division, Value divisor) {
    Location loc = division.op->getLoc();
    Value magnitude = division.isSigned() ? magnitudeOf(divisor) : divisor;
    Value numerator = division.numerator();
    auto wide = arith::MulUIExtendedOp::create(builder, loc, numerator, reciprocal(magnitude));
    Value least = wide.getHigh(), remainder = sub(loc, numerator, mul(loc, least, magnitude));
    Value isLess = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, remainder, magnitude);
    if (division.isRemainder())
      return arith::SelectOp::create(builder, loc, isLess, sub(loc, remainder, magnitude), remainder);
    Value next = arith::AddIOp::create(builder, loc, least, emitI32(builder, loc, 1));
    Value quotient = arith::SelectOp::create(builder, loc, isLess, next, least);
    if (!division.isSigned())
      return quotient;
    Value negated = sub(loc, emitI32(builder, loc, 0), quotient);
    return arith::SelectOp::create(builder, loc, isNegative(builder, divisor), negated, quotient);
  }

  Value isNegative(OpBuilder &at, Value divisor) {
    Location loc = divisor.getLoc();
    return arith::CmpIOp::create(at, loc, arith::CmpIPredicate::slt, divisor, emitI32(at, loc, 0));
  }

  Value magnitudeOf(Value divisor) {
    Value &result = magnitudes[divisor];
    if (result)
      return result;
    Location loc = divisor.getLoc();
    Value negated = arith::SubIOp::create(entry, loc, emitI32(entry, loc, 0), divisor);
    return result = arith::SelectOp::create(entry, loc, isNegative(entry, divisor), negated, divisor);
  }

  Value reciprocal(Value divisor) {
    Value &result = reciprocals[divisor];
    if (result)
      return result;
    Location loc = divisor.getLoc();
    // A grid without programs has a size of 0, but then no division is executed.
    Value positive = arith::MaxUIOp::create(entry, loc, divisor, emitI32(entry, loc, 1));
    return result = arith::DivUIOp::create(entry, loc, emitI32(entry, loc, -1), positive);
  }

  /// Recomputes the integer at the kernel's entry, if it is computed from arguments by speculatable arithmetic;
  /// otherwise returns null.
  Value atEntry(Value value) {
    if (Value known = entryValues.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op)
      return value.getParentBlock() == &kernel.getBody().front() ? value : Value();
    bool isNumber = isa<arith::ArithDialect>(op->getDialect()) || isa<NumProgramsOp, cta::NumClustersOp>(op);
    if (!isNumber || !isPure(op) || op->getNumResults() != 1 || !value.getType().isInteger())
      return {};
    IRMapping mapping;
    for (Value operand : op->getOperands()) {
      Value there = atEntry(operand);
      if (!there)
        return {};
      mapping.map(operand, there);
    }
    return entryValues[value] = entry.clone(*op, mapping)->getResult(0);
  }

  KernelOp kernel;
  OpBuilder entry, builder;
  DenseMap<Value, Value> entryValues, reciprocals, magnitudes;
};

struct CtaInvertDivisors : tile::impl::CtaInvertDivisorsBase<CtaInvertDivisors> {
  void runOnKernel() override { DivisorInverter(getOperation()).run(); }
};

} // namespace
