// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification and canonical form of dots.
#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include "Tile/Engine.cpp.inc"

using namespace mlir;
using namespace tile;

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// Returns the accumulator types that are allowed for the element types `a` and `b`; empty if a dot cannot combine
/// these types.
static SmallVector<Type> accumulatorsFor(Type a, Type b) {
  Builder builder(a.getContext());
  if (isFloat8(a) && isFloat8(b))
    return {builder.getF32Type()};
  if (a != b)
    return {};
  if (a.isF16())
    return {builder.getF16Type(), builder.getF32Type()};
  if (a.isBF16() || a.isF32())
    return {builder.getF32Type()};
  if (a.isF64())
    return {builder.getF64Type()};
  if (a.isInteger(8))
    return {builder.getI32Type()};
  return {};
}

constexpr int64_t elementsOfByteScale = 32, elementsOfFloatScale = 16;

/// Returns the number of elements along k that share a scale of this type; 0 if scales cannot have this type.
static int64_t groupOf(Type scale) {
  return scale.isInteger(8) ? elementsOfByteScale : isa<Float8E4M3FNType>(scale) ? elementsOfFloatScale : 0;
}

/// Checks the scales of `lines` rows of a, or columns of b, with `depth` elements each.
static LogicalResult verifyScale(Operation *op, RankedTensorType scale, int64_t lines, int64_t depth) {
  int64_t group = groupOf(scale.getElementType());
  if (group == 0)
    return op->emitOpError() << "has scales of " << scale.getElementType() << "; scales are i8 or f8E4M3FN";
  if (scale.getShape() != ArrayRef<int64_t>({lines, depth / group}))
    return op->emitOpError() << "has scales " << scale << " for " << lines << " rows or columns of " << depth
                             << " elements along k; expected " << lines << 'x' << depth / group;
  return success();
}

Type DotOp::getMultipliedType(Value operand) {
  Type element = getElementTypeOrSelf(operand);
  return isScaled() && element.isInteger(8) ? Float4E2M1FNType::get(getContext()) : element;
}

int64_t DotOp::getDepth() {
  RankedTensorType a = getA().getType();
  return a.getDimSize(1) * (isScaled() && a.getElementType().isInteger(8) ? 2 : 1);
}

int64_t DotOp::getScaleGroup() {
  return isScaled() ? groupOf(getAScale().getType().getElementType()) : 0;
}

static LogicalResult verifyScales(DotOp dot) {
  if (!dot.getAScale() || !dot.getBScale() ||
      getElementTypeOrSelf(dot.getAScale()) != getElementTypeOrSelf(dot.getBScale()))
    return dot.emitOpError() << "has scales for one operand, or of two types; expected the same type for both";
  RankedTensorType a = dot.getA().getType(), b = dot.getB().getType();
  bool isPacked = a.getElementType().isInteger(8) && b.getElementType().isInteger(8);
  if (!isPacked && !(isFloat8(a.getElementType()) && isFloat8(b.getElementType())))
    return dot.emitOpError() << "scales operands of " << a.getElementType() << " and " << b.getElementType()
                             << "; expected 8-bit floats, or i8 for both";
  if (failed(verifyScale(dot, dot.getAScale().getType(), a.getDimSize(0), dot.getDepth())) ||
      failed(verifyScale(dot, dot.getBScale().getType(), b.getDimSize(1), dot.getDepth())))
    return failure();
  if (!dot.getAcc().getType().getElementType().isF32())
    return dot.emitOpError() << "accumulates scaled products in " << dot.getAcc().getType().getElementType()
                             << "; expected f32";
  return success();
}

int64_t DotScaledOp::getDepth() {
  bool isPacked = getAFormat() == ScaledFormat::e2m1 && getPackedAxisOfA() == 1;
  return getA().getType().getDimSize(1) * (isPacked ? 2 : 1);
}

/// Returns true if a tensor of `element` can hold elements of the format.
static bool holds(Type element, ScaledFormat format) {
  switch (format) {
  case ScaledFormat::e2m1:
    return element.isInteger(8);
  case ScaledFormat::e4m3:
    return element.isInteger(8) || isa<Float8E4M3FNType>(element);
  case ScaledFormat::e5m2:
    return element.isInteger(8) || isa<Float8E5M2Type>(element);
  case ScaledFormat::bf16:
    return element.isBF16();
  case ScaledFormat::fp16:
    return element.isF16();
  }
  llvm_unreachable("a format of the enumeration");
}

LogicalResult DotScaledOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), acc = getAcc().getType();
  if (a.getRank() != 2 || b.getRank() != 2 || acc.getRank() != 2)
    return emitOpError() << "operands have ranks " << a.getRank() << ", " << b.getRank() << " and " << acc.getRank()
                         << "; a dot takes matrices";
  for (auto [type, format] : {std::pair(a, getAFormat()), std::pair(b, getBFormat())})
    if (!holds(type.getElementType(), format))
      return emitOpError() << "reads " << type.getElementType() << " as " << stringifyScaledFormat(format);
  auto sizeOf = [](RankedTensorType type, ScaledFormat format, unsigned packed, unsigned axis) {
    return type.getDimSize(axis) * (format == ScaledFormat::e2m1 && packed == axis ? 2 : 1);
  };
  int64_t m = sizeOf(a, getAFormat(), getPackedAxisOfA(), 0), n = sizeOf(b, getBFormat(), getPackedAxisOfB(), 1);
  int64_t k = getDepth(), other = sizeOf(b, getBFormat(), getPackedAxisOfB(), 0);
  if (k != other)
    return emitOpError() << "a has " << k << " elements along k and b has " << other << "; they must agree";
  if (acc.getDimSize(0) != m || acc.getDimSize(1) != n || !acc.getElementType().isF32())
    return emitOpError() << "accumulator is " << acc << " but the dot is " << m << 'x' << n << " of f32";
  if (getAScale() && failed(verifyScale(*this, getAScale().getType(), m, k)))
    return failure();
  return getBScale() ? verifyScale(*this, getBScale().getType(), n, k) : success();
}

static LogicalResult verifyTypes(DotOp dot) {
  Type a = getElementTypeOrSelf(dot.getA()), b = getElementTypeOrSelf(dot.getB()),
       acc = getElementTypeOrSelf(dot.getAcc());
  SmallVector<Type> accumulators = accumulatorsFor(a, b);
  if (accumulators.empty())
    return dot.emitOpError() << "cannot multiply " << a << " by " << b;
  if (!llvm::is_contained(accumulators, acc))
    return dot.emitOpError() << "cannot accumulate products of " << a << " in " << acc;
  if (dot.getMaxNumImpreciseAcc() != 0 && !isFloat8(a))
    return dot.emitOpError() << "has max_num_imprecise_acc = " << dot.getMaxNumImpreciseAcc() << " for operands of "
                             << a << "; it is for 8-bit floats";
  return success();
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), acc = getAcc().getType();
  if (a.getRank() != 2 || b.getRank() != 2 || acc.getRank() != 2)
    return emitOpError() << "operands have ranks " << a.getRank() << ", " << b.getRank() << " and " << acc.getRank()
                         << "; a dot takes matrices";
  int64_t m = a.getDimSize(0), k = a.getDimSize(1), n = b.getDimSize(1);
  if (b.getDimSize(0) != k)
    return emitOpError() << "a is " << m << "x" << k << " and b is " << b.getDimSize(0) << "x" << n
                         << "; the inner sizes " << k << " and " << b.getDimSize(0) << " must agree";
  if (acc.getDimSize(0) != m || acc.getDimSize(1) != n)
    return emitOpError() << "accumulator is " << acc.getDimSize(0) << "x" << acc.getDimSize(1) << " but the dot is "
                         << m << "x" << n;
  if (failed(getAScale() || getBScale() ? verifyScales(*this) : verifyTypes(*this)))
    return failure();
  Engine engine = getEngineAttr();
  return engine ? engine.verifyDot(*this) : success();
}

bool DotOp::isPromoted() {
  return !isScaled() && isFloat8(getA().getType().getElementType()) &&
         getMaxNumImpreciseAcc() <= getA().getType().getDimSize(1);
}

namespace {

/// acc + dot(a, b, 0) ==> dot(a, b, acc)
///
/// If both operands are dots, the later dot takes the earlier one as its accumulator, and the earlier dot stays next to
/// its operands.
template <typename AddOp> struct AddToAccumulator : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    DotOp left = findDot(add, 0), right = findDot(add, 1);
    DotOp dot = left && right ? (left->isBeforeInBlock(right) ? right : left) : left ? left : right;
    if (!dot)
      return failure();
    Value acc = add->getOperand(dot == left ? 1 : 0);
    // The addition is done in f32, so only the elements of this dot may be accumulated imprecisely.
    uint32_t inner = dot.getA().getType().getDimSize(1), imprecise = std::min(dot.getMaxNumImpreciseAcc(), inner);
    auto merged = cast<DotOp>(rewriter.clone(*dot));
    merged.getAccMutable().assign(acc);
    merged.setMaxNumImpreciseAcc(imprecise);
    rewriter.replaceOp(add, merged);
    rewriter.eraseOp(dot);
    return success();
  }

private:
  /// Returns the dot that produces the operand, if its accumulator is zero and it has no other use.
  static DotOp findDot(AddOp add, unsigned operand) {
    auto dot = add->getOperand(operand).template getDefiningOp<DotOp>();
    bool isAdded = dot && dot->hasOneUse() && dot->getBlock() == add->getBlock() &&
                   (matchPattern(dot.getAcc(), m_AnyZeroFloat()) || matchPattern(dot.getAcc(), m_Zero()));
    return isAdded ? dot : DotOp();
  }
};

} // namespace

void DotOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AddToAccumulator<arith::AddFOp>, AddToAccumulator<arith::AddIOp>>(context);
}
