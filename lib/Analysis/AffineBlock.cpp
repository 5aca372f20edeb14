// Affine forms: one rule for each operation, over its operands' forms.
#include "Analysis/AffineBlock.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

using Form = std::optional<AffineBlock>;

/// Of the operand chains that are followed; longer ones are what unrolled loops leave, and would use up the stack.
static constexpr unsigned maxDepth = 500;

bool AffineBlock::isUniform() const {
  return llvm::all_of(steps, [](const Polynomial &step) { return step.isZero(); });
}

bool AffineBlock::isExact() const {
  return start.isExact() && llvm::all_of(steps, [](const Polynomial &step) { return step.isExact(); });
}

static AffineBlock uniformBlock(Type type, Polynomial start) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  AffineBlock block;
  block.start = std::move(start);
  block.steps.resize(tensor ? tensor.getRank() : 0);
  return block;
}

static AffineBlock addBlocks(const AffineBlock &lhs, const AffineBlock &rhs) {
  AffineBlock sum = lhs;
  sum.start = lhs.start + rhs.start;
  for (auto [step, other] : llvm::zip_equal(sum.steps, rhs.steps))
    step = step + other;
  return sum;
}

static AffineBlock scaleBlock(const AffineBlock &block, const Polynomial &factor) {
  AffineBlock product = block;
  product.start = block.start * factor;
  for (Polynomial &step : product.steps)
    step = step * factor;
  return product;
}

static Form multiplyBlocks(const AffineBlock &lhs, const AffineBlock &rhs) {
  if (rhs.isUniform())
    return scaleBlock(lhs, rhs.start);
  if (lhs.isUniform())
    return scaleBlock(rhs, lhs.start);
  return std::nullopt;
}

static Form constantBlock(Value value) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)) || constant.getBitWidth() > 64)
    return std::nullopt;
  return uniformBlock(value.getType(), constant.getSExtValue());
}

/// `block` divided by `divisor`, if that leaves no remainder whatever the factors are.
static Form divideBlock(AffineBlock block, const Polynomial &divisor) {
  auto divide = [&](Polynomial &number) {
    auto [quotient, rest] = number.divide(divisor);
    number = quotient;
    return rest.isZero();
  };
  if (!divide(block.start) || !llvm::all_of(block.steps, divide))
    return std::nullopt;
  return block;
}

Form AffineBlocks::get(Value value) {
  auto [entry, isNew] = known.try_emplace(value);
  if (!isNew)
    return entry->second;
  // Meanwhile a value that depends on itself has no form.
  Form form;
  if (depth < maxDepth) {
    ++depth;
    form = compute(value);
    --depth;
  }
  Type type = value.getType();
  if (!form && isa<PtrType>(type))
    form = AffineBlock{value, 0, {}};
  if (!form && type.isInteger())
    form = uniformBlock(type, Polynomial(value));
  return known[value] = form;
}

Form AffineBlocks::compute(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return computeCarried(argument);
  return computeResult(value.getDefiningOp());
}

/// first + (iv - lower) / step * growth. The division must leave nothing, since the quotient counts the iterations.
Form AffineBlocks::computeCarried(BlockArgument argument) {
  auto loop = dyn_cast_if_present<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument == loop.getInductionVar() || loop.getUnsignedCmp())
    return std::nullopt;
  Form first = get(loop.getTiedLoopInit(argument)->get());
  AffineBlock growth = uniformBlock(argument.getType(), 0);
  for (Value next = loop.getTiedLoopYieldedValue(argument)->get(); next != argument;) {
    Value addend;
    if (auto add = next.getDefiningOp<AddPtrOp>()) {
      addend = add.getOffset();
      next = add.getPtr();
    } else if (auto add = next.getDefiningOp<arith::AddIOp>()) {
      bool isRight = add.getRhs() == argument;
      addend = isRight ? add.getLhs() : add.getRhs();
      next = isRight ? add.getRhs() : add.getLhs();
    } else {
      return std::nullopt;
    }
    Form added = get(addend);
    if (!added || added->base)
      return std::nullopt;
    growth = addBlocks(growth, *added);
  }
  auto isInvariant = [&](Value factor) { return loop.isDefinedOutsideOfLoop(factor); };
  Form lower = get(loop.getLowerBound()), step = get(loop.getStep());
  bool invariant = growth.isExact() && growth.start.all(isInvariant) &&
                   llvm::all_of(growth.steps, [&](const Polynomial &each) { return each.all(isInvariant); });
  if (!first || !lower || !step || !invariant)
    return std::nullopt;
  Polynomial distance = Polynomial(loop.getInductionVar()) - lower->start;
  Form grown = divideBlock(scaleBlock(growth, distance), step->start);
  return grown ? Form(addBlocks(*first, *grown)) : std::nullopt;
}

Form AffineBlocks::computeResult(Operation *op) {
  Value value = op->getResult(0);
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case([&](arith::ConstantOp) { return constantBlock(value); })
      .Case([&](ArangeOp arange) {
        AffineBlock block = uniformBlock(value.getType(), int32_t(arange.getStart()));
        block.steps[0] = 1;
        return Form(block);
      })
      .Case([&](SplatOp splat) {
        Form scalar = get(splat.getScalar());
        if (scalar)
          scalar->steps.resize(splat.getType().getRank());
        return scalar;
      })
      .Case([&](ExpandDimsOp expand) {
        Form block = get(expand.getSrc());
        if (block)
          block->steps.insert(block->steps.begin() + expand.getAxis(), Polynomial());
        return block;
      })
      .Case([&](BroadcastOp broadcast) {
        Form block = get(broadcast.getSrc());
        for (auto [dim, size] : llvm::enumerate(broadcast.getSrc().getType().getShape()))
          if (block && size == 1)
            block->steps[dim] = 0; // the only index was 0
        return block;
      })
      .Case([&](TransOp trans) {
        Form block = get(trans.getSrc());
        if (!block)
          return block;
        Form permuted = block;
        for (auto [to, from] : llvm::enumerate(trans.getOrder()))
          permuted->steps[to] = block->steps[from];
        return permuted;
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp, AddPtrOp>(
          [&](Operation *binary) { return combine(binary); })
      .Case([&](arith::ExtSIOp extend) { return get(extend.getIn()); })
      .Case([&](arith::ExtUIOp extend) {
        return facts.get(extend.getIn()).nonNegative ? get(extend.getIn()) : std::nullopt;
      })
      .Default([](Operation *) { return std::nullopt; });
}

Form AffineBlocks::combine(Operation *op) {
  Form lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
  if (!lhs || !rhs || rhs->base)
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case<arith::AddIOp, AddPtrOp>([&](Operation *) { return addBlocks(*lhs, *rhs); })
      .Case([&](arith::SubIOp) { return addBlocks(*lhs, scaleBlock(*rhs, -1)); })
      .Case([&](arith::MulIOp) { return multiplyBlocks(*lhs, *rhs); })
      .Default([&](Operation *) -> Form { // x << n
        std::optional<int64_t> bits = rhs->isUniform() ? rhs->start.getConstant() : std::nullopt;
        if (!bits || *bits < 0 || *bits > 31)
          return std::nullopt;
        return scaleBlock(*lhs, int64_t(1) << *bits);
      });
}
