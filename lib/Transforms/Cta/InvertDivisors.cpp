// cta-invert-divisors: divide by what stays the same with a reciprocal.
//
// Which tile a program computes follows from its number by divisions: by the grid's width, by the programs of a group.
// Both roles wait for it before each program, the producer even before the first copy of all, and a division of 32 bits
// takes about 150 clocks of dependent instructions. What divides follows from the kernel's arguments, though, so its
// reciprocal can be computed once, while the barriers are made:
//
//   for p:  q = p / d; r = p mod d   ==>   m = (2^32 - 1) / d
//                                          for p:  q = high 32 bits of p * m; r = p - q * d
//                                                  if r >= d: q += 1, r -= d
//
// Exact for all numbers of 32 bits: 2^32 - d <= m * d < 2^32, so p * m / 2^32 is at most p / 2^32 < 1 less than p / d.
// The last group of rows may be smaller than the others. Where a divisor is the lesser of a number and a constant, it
// is the constant nearly always, by which to divide takes one multiplication:
//
//   q = n / min(x, C)   ==>   q = (min(x, C) == C) ? n / C : n / min(x, C), by a branch
#include "Analysis/AxisInfo.h"
#include "Cta/CtaDialect.h"
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

/// n / d, or what it leaves; neither is negative.
struct Division {
  Operation *op;

  // Not stored, because they may be results of divisions that are rewritten before.
  Value numerator() const { return op->getOperand(0); }
  Value divisor() const { return op->getOperand(1); }
  bool isRemainder() const { return isa<arith::RemUIOp, arith::RemSIOp>(op); }
};

bool isInLoop(Operation *op) {
  return bool(op->getParentOfType<LoopLikeOpInterface>());
}

bool isDivision(Operation *op, AxisInfoAnalysis &facts) {
  if (!isa<arith::DivUIOp, arith::RemUIOp, arith::DivSIOp, arith::RemSIOp>(op) ||
      !op->getResult(0).getType().isInteger(32) || matchPattern(op->getOperand(1), m_Constant()))
    return false;
  auto isNonNegative = [&](Value operand) { return facts.get(operand).nonNegative; };
  return isa<arith::DivUIOp, arith::RemUIOp>(op) || llvm::all_of(op->getOperands(), isNonNegative);
}

/// C of min(x, C).
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

    AxisInfoAnalysis facts(kernel);
    SmallVector<Division> divisions;
    kernel.walk([&](Operation *op) {
      if (isInLoop(op) && isDivision(op, facts))
        divisions.push_back({op});
    });
    for (const Division &division : divisions)
      rewrite(division);
  }

private:
  void expand(Swizzle2dOp op) {
    builder.setInsertionPoint(op);
    Location loc = op.getLoc();
    Value ij = matchNumber(op);
    if (!ij) {
      Value row = arith::MulIOp::create(builder, loc, op.getI(), op.getSizeJ());
      ij = arith::AddIOp::create(builder, loc, row, op.getJ());
    }
    auto [i, j] = op.expand(builder, ij);
    op.replaceAllUsesWith(ValueRange{i, j});
    op.erase();
  }

  /// The place in row-major order, if it was divided into row and column only to be put together again:
  /// ((p / y) mod x) * y + p mod y is p mod (x * y).
  Value matchNumber(Swizzle2dOp op) {
    auto column = op.getJ().getDefiningOp<arith::RemUIOp>(), row = op.getI().getDefiningOp<arith::RemUIOp>();
    auto rows = row ? row.getLhs().getDefiningOp<arith::DivUIOp>() : arith::DivUIOp();
    if (!column || !rows || column.getRhs() != op.getSizeJ() || row.getRhs() != op.getSizeI() ||
        rows.getLhs() != column.getLhs() || rows.getRhs() != op.getSizeJ())
      return {};
    Value all = arith::MulIOp::create(builder, op.getLoc(), op.getSizeI(), op.getSizeJ());
    return arith::RemUIOp::create(builder, op.getLoc(), column.getLhs(), all);
  }

  void rewrite(const Division &division) {
    builder.setInsertionPoint(division.op);
    Value quotient;
    if (std::optional<int64_t> limit = matchLimit(division.divisor()))
      quotient = divideByLimit(division, *limit);
    else if (Value divisor = atEntry(division.divisor()))
      quotient = multiply(division, divisor);
    else
      return;
    Value result = division.isRemainder() ? subtract(division, quotient) : quotient;
    division.op->getResult(0).replaceAllUsesWith(result);
    division.op->erase();
  }

  /// n - q * d.
  Value subtract(const Division &division, Value quotient) {
    Location loc = division.op->getLoc();
    Value product = arith::MulIOp::create(builder, loc, quotient, division.divisor());
    return arith::SubIOp::create(builder, loc, division.numerator(), product);
  }

  Value divideByLimit(const Division &division, int64_t limit) {
    Location loc = division.op->getLoc();
    Value constant = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(int32_t(limit)));
    Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, division.divisor(), constant);
    auto divide = [&](Value divisor) {
      return [&, divisor](OpBuilder &nested, Location loc) {
        Value quotient = arith::DivUIOp::create(nested, loc, division.numerator(), divisor);
        scf::YieldOp::create(nested, loc, quotient);
      };
    };
    return scf::IfOp::create(builder, loc, isWhole, divide(constant), divide(division.divisor())).getResult(0);
  }

  Value multiply(const Division &division, Value divisor) {
    Location loc = division.op->getLoc();
    auto wide = arith::MulUIExtendedOp::create(builder, loc, division.numerator(), reciprocal(divisor));
    Value least = wide.getHigh(), rest = subtract(division, least);
    Value isLess = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, rest, division.divisor());
    Value one = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
    Value next = arith::AddIOp::create(builder, loc, least, one);
    return arith::SelectOp::create(builder, loc, isLess, next, least);
  }

  Value reciprocal(Value divisor) {
    Value &result = reciprocals[divisor];
    if (result)
      return result;
    Location loc = divisor.getLoc();
    auto constant = [&](int32_t value) -> Value {
      return arith::ConstantOp::create(entry, loc, entry.getI32IntegerAttr(value));
    };
    // A grid without programs has a size of 0; nothing is divided by it then.
    Value positive = arith::MaxUIOp::create(entry, loc, divisor, constant(1));
    return result = arith::DivUIOp::create(entry, loc, constant(-1), positive);
  }

  /// The value computed where the kernel begins, if it follows from arguments and may be computed anywhere.
  Value atEntry(Value value) {
    if (Value known = entryValues.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (!op)
      return value.getParentBlock() == &kernel.getBody().front() ? value : Value();
    if (op->getNumRegions() != 0 || !isPure(op) || op->getNumResults() != 1)
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
  DenseMap<Value, Value> entryValues, reciprocals;
};

struct CtaInvertDivisors : tile::impl::CtaInvertDivisorsBase<CtaInvertDivisors> {
  void runOnOperation() override { DivisorInverter(getOperation()).run(); }
};

} // namespace
