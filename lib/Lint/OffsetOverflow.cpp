// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds offsets that overflow 32 bits: rows * stride, before the 64-bit address is computed.
//
//   x + tl.program_id(0) * stride                  warns: both can be large
//   x + tl.program_id(0).to(tl.int64) * stride     no warning: 64 bits
//   x + tl.program_id(0) * BLOCK no warning: the product is below the size that the grid covers, which fits in 32 bits
//   x + tl.arange(0, 64)[:, None] * stride no warning: the factor is only an offset within a block
//   x + tl.load(page) * 480 * 576                  warns: loaded values and their stride, here the product of two
//                                                 constants, may be large
//   --size stride=4096,M=8192                      no warning: products for these launch sizes fit
#include "Lint/Lint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile::frontend;

namespace tile::lint {
namespace {

constexpr int64_t largestInt32 = std::numeric_limits<int32_t>::max();
// Larger than any block dimension that is multiplied by a stride.
constexpr int64_t largestInBlock = 4096;
// Limit of the grid's second and third dimensions (CUDA programming guide, compute capabilities).
constexpr int64_t largestOuterGrid = 65535;

/// Computes upper bounds of the magnitudes of 32-bit integers; defaults to the bound of the type.
class Magnitudes {
public:
  explicit Magnitudes(const Expected &expected) : expected(expected) {}

  int64_t of(Value value) {
    if (auto known = bounds.find(value); known != bounds.end())
      return known->second;
    bounds[value] = largestInt32; // used if a loop leads back to this value
    ++depth;
    int64_t bound = depth > maxDepth ? largestInt32 : std::min(compute(value), promised(value));
    --depth;
    return bounds[value] = std::min(bound, ofType(value));
  }

  /// Returns the product of the small constants by which a loaded value of unknown size is multiplied. Returns 1 for
  /// tile offsets, because a tile offset is a position in a tensor whose sizes fit in 32 bits.
  int64_t scaleOf(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || depth > maxDepth)
      return 1;
    if (auto known = scales.find(value); known != scales.end())
      return known->second;
    ++depth;
    int64_t scale = computeScale(op);
    --depth;
    return scales[value] = scale;
  }

private:
  int64_t computeScale(Operation *op) {
    if (isa<ShapeChange, arith::ExtSIOp, arith::ExtUIOp, HintOp>(op))
      return scaleOf(op->getOperand(0));
    if (isa<arith::AddIOp, arith::SubIOp>(op))
      return std::max(scaleOf(op->getOperand(0)), scaleOf(op->getOperand(1)));
    auto product = dyn_cast<arith::MulIOp>(op);
    if (!product)
      return 1;
    Value large = product.getLhs(), small = product.getRhs();
    if (of(large) < of(small))
      std::swap(large, small);
    bool isScaled = of(large) == largestInt32 && of(small) <= largestInBlock && isLoaded(large);
    return isScaled ? std::min(of(small) * scaleOf(large), largestInt32) : 1;
  }

  /// Returns true if the value is computed from a loaded value.
  bool isLoaded(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || depth > maxDepth)
      return false;
    if (isa<LoadOp>(op))
      return true;
    if (!isa<ShapeChange, HintOp>(op) && !isa<arith::ArithDialect>(op->getDialect()))
      return false;
    auto [known, isNew] = areLoaded.try_emplace(value, false);
    if (!isNew)
      return known->second;
    ++depth;
    bool isFound = llvm::any_of(op->getOperands(), [&](Value operand) { return isLoaded(operand); });
    --depth;
    return areLoaded[value] = isFound;
  }

  /// Returns the largest magnitude of the type, such as 1 for a boolean that is extended later.
  static int64_t ofType(Value value) {
    Type type = getElementTypeOf(value.getType());
    constexpr unsigned bits = 31; // of largestInt32
    return type.isInteger() ? int64_t(llvm::maskTrailingOnes<uint64_t>(std::min(type.getIntOrFloatBitWidth(), bits)))
                            : largestInt32;
  }

  int64_t compute(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp()))
        return ofParameter(kernel, argument);
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      bool isVariable = loop && argument == loop.getInductionVar();
      return isVariable ? std::max(of(loop.getLowerBound()), of(loop.getUpperBound())) : largestInt32;
    }
    Operation *op = value.getDefiningOp();
    APInt constant;
    if (matchPattern(value, m_ConstantInt(&constant)))
      return int64_t(constant.abs().getLimitedValue(largestInt32));
    auto operand = [&](unsigned index) { return of(op->getOperand(index)); };
    return llvm::TypeSwitch<Operation *, int64_t>(op)
        .Case([&](ArangeOp range) { return std::max<int64_t>(1, int32_t(range.getEnd()) - 1); })
        .Case([&](ProgramIdOp id) { return std::max<int64_t>(0, programs(id.getAxis()) - 1); })
        .Case([&](NumProgramsOp count) { return programs(count.getAxis()); })
        .Case<ShapeChange, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, HintOp>([&](auto) { return operand(0); })
        .Case<arith::AddIOp, arith::SubIOp>([&](Operation *) { return operand(0) + operand(1); })
        .Case([&](arith::MulIOp) {
          return llvm::SaturatingMultiply(uint64_t(operand(0)), uint64_t(operand(1))) > uint64_t(largestInt32)
                     ? largestInt32
                     : operand(0) * operand(1);
        })
        .Case<arith::DivSIOp, arith::DivUIOp>(
            [&](Operation *) { return operand(0) / std::max<int64_t>(1, divisor(op)); })
        .Case<arith::RemSIOp, arith::RemUIOp>([&](Operation *) { return std::min(operand(0), operand(1)); })
        .Case<arith::MinSIOp, arith::MinUIOp, arith::AndIOp>(
            [&](Operation *) { return std::min(operand(0), operand(1)); })
        .Case<arith::MaxSIOp, arith::MaxUIOp>([&](Operation *) { return std::max(operand(0), operand(1)); })
        .Case([&](arith::SelectOp) { return std::max(operand(1), operand(2)); })
        .Default([](Operation *) { return largestInt32; });
  }

  int64_t ofParameter(KernelOp kernel, BlockArgument parameter) const {
    auto name = kernel.getArgAttrOfType<StringAttr>(parameter.getArgNumber(), argNameAttrName);
    auto size = name ? expected.sizes.find(name.str()) : expected.sizes.end();
    return size == expected.sizes.end() ? largestInt32 : std::abs(size->second);
  }

  int64_t programs(unsigned axis) const {
    if (axis < expected.grid.size())
      return expected.grid[axis];
    return axis == 0 ? largestInt32 : largestOuterGrid;
  }

  static int64_t divisor(Operation *op) {
    APInt constant;
    bool isKnown = matchPattern(op->getOperand(1), m_ConstantInt(&constant)) && constant.isStrictlyPositive();
    return isKnown ? int64_t(constant.getLimitedValue(largestInt32)) : 1;
  }

  /// Returns the bound from tl.assume: value < constant.
  static int64_t promised(Value value) {
    int64_t bound = largestInt32;
    for (Operation *user : value.getUsers()) {
      auto compare = dyn_cast<arith::CmpIOp>(user);
      bool isAssumed =
          compare && llvm::any_of(compare->getUsers(), [](Operation *next) { return isa<AssumeOp>(next); });
      APInt constant;
      if (!isAssumed || compare.getLhs() != value || !matchPattern(compare.getRhs(), m_ConstantInt(&constant)))
        continue;
      if (compare.getPredicate() == arith::CmpIPredicate::slt || compare.getPredicate() == arith::CmpIPredicate::sle)
        bound = std::min(bound, std::max<int64_t>(constant.getSExtValue(), 0));
    }
    return bound;
  }

  // Long chains of arithmetic give no useful bound, so stop before the stack overflows.
  static constexpr unsigned maxDepth = 200;

  const Expected &expected;
  llvm::DenseMap<Value, int64_t> bounds, scales;
  llvm::DenseMap<Value, bool> areLoaded;
  unsigned depth = 0;
};

bool canOverflow(arith::MulIOp product, Magnitudes &magnitudes) {
  if (!getElementTypeOf(product.getType()).isInteger(32))
    return false;
  int64_t left = magnitudes.of(product.getLhs()), right = magnitudes.of(product.getRhs());
  return left * magnitudes.scaleOf(product.getRhs()) > largestInBlock &&
         right * magnitudes.scaleOf(product.getLhs()) > largestInBlock && left > largestInt32 / right;
}

/// Returns the values that a loop or a branch forwards to `value`; no values if it is not the result of one.
SmallVector<Value> sourcesOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (auto loop = dyn_cast_or_null<scf::ForOp>(argument ? argument.getOwner()->getParentOp() : value.getDefiningOp())) {
    if (argument && argument == loop.getInductionVar())
      return {};
    size_t index = argument ? argument.getArgNumber() - 1 : cast<OpResult>(value).getResultNumber();
    return {loop.getInitArgs()[index], loop.getYieldedValues()[index]};
  }
  if (auto branch = value.getDefiningOp<scf::IfOp>()) {
    unsigned index = cast<OpResult>(value).getResultNumber();
    return {branch.thenYield()->getOperand(index), branch.elseYield()->getOperand(index)};
  }
  return {};
}

/// Adds the values that contribute to these offsets through additions, multiplications, selects, extensions, shape
/// changes, loops and branches.
void addParts(llvm::SetVector<Value> &reached) {
  for (size_t next = 0; next < reached.size(); ++next) {
    for (Value source : sourcesOf(reached[next]))
      reached.insert(source);
    Operation *op = reached[next].getDefiningOp();
    if (isa_and_present<ShapeChange, HintOp, arith::ExtSIOp, arith::ExtUIOp, arith::AddIOp, arith::SubIOp,
                        arith::MulIOp>(op))
      reached.insert(op->operand_begin(), op->operand_end());
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
      reached.insert(select.getTrueValue());
      reached.insert(select.getFalseValue());
    }
    // Remainders are not followed, because they keep addresses within a matrix, as in (first + rows) % M.
  }
}

} // namespace

void findOffsetOverflow(const Subject &subject) {
  Magnitudes magnitudes(subject.expected);
  llvm::SetVector<Value> reached;
  subject.kernel->walk([&](AddPtrOp add) { reached.insert(add.getOffset()); });
  addParts(reached);
  SmallVector<arith::MulIOp> products;
  // Collect the products in program order.
  subject.kernel->walk([&](arith::MulIOp product) {
    if (reached.contains(product) && canOverflow(product, magnitudes))
      products.push_back(product);
  });
  if (products.empty())
    return;
  arith::MulIOp product = products.front();
  auto builder = subject.report(Diag::offset_overflow, product);
  OperationSource source = subject.sourceOf(product);
  bool onLeft = source.leftIsPrimary || (!source.rightIsPrimary && source.left.end > source.left.begin);
  // A literal has no method .to().
  if (matchPattern(onLeft ? product.getLhs() : product.getRhs(), m_Constant()))
    onLeft = !onLeft;
  SourceRange factor = onLeft ? source.left : source.right;
  if (factor.end > factor.begin) {
    bool isPrimary = onLeft ? source.leftIsPrimary : source.rightIsPrimary;
    if (!isPrimary)
      builder.fixIt({factor.begin, factor.begin, factor.file}, "(");
    builder.fixIt({factor.end, factor.end, factor.file}, isPrimary ? ".to(tl.int64)" : ").to(tl.int64)");
  }
  size_t others = products.size() - 1;
  if (others == 1)
    builder.note(subject.sourceOf(products[1]).range, "so can this one");
  else if (others > 1)
    builder.note(subject.sourceOf(products[1]).range,
                 "so can " + std::to_string(others) + " other products of this kernel; the next one is here");
}

} // namespace tile::lint
