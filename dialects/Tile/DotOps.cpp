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

/// Returns the accumulator types for the element types `a` and `b`, empty if these cannot be combined.
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
  SmallVector<Type> accumulators = accumulatorsFor(a.getElementType(), b.getElementType());
  if (accumulators.empty())
    return emitOpError() << "cannot multiply " << a.getElementType() << " by " << b.getElementType();
  if (!llvm::is_contained(accumulators, acc.getElementType()))
    return emitOpError() << "cannot accumulate products of " << a.getElementType() << " in " << acc.getElementType();
  if (getMaxNumImpreciseAcc() != 0 && !isFloat8(a.getElementType()))
    return emitOpError() << "has max_num_imprecise_acc = " << getMaxNumImpreciseAcc() << " for operands of "
                         << a.getElementType() << "; it is for 8-bit floats";
  Engine engine = getEngineAttr();
  return engine ? engine.verifyDot(*this) : success();
}

bool DotOp::isPromoted() {
  return isFloat8(getA().getType().getElementType()) && getMaxNumImpreciseAcc() <= getA().getType().getDimSize(1);
}

namespace {

/// acc + dot(a, b, 0) ==> dot(a, b, acc)
///
/// If both operands are dots, the later one takes the other as its accumulator, and the other stays next to its
/// operands.
template <typename AddOp> struct AddToAccumulator : OpRewritePattern<AddOp> {
  using OpRewritePattern<AddOp>::OpRewritePattern;

  LogicalResult matchAndRewrite(AddOp add, PatternRewriter &rewriter) const override {
    DotOp left = findProduct(add, 0), right = findProduct(add, 1);
    DotOp dot = left && right ? (left->isBeforeInBlock(right) ? right : left) : left ? left : right;
    if (!dot)
      return failure();
    Value acc = add->getOperand(dot == left ? 1 : 0);
    // The addition rounds in f32, so only the elements of this dot may be accumulated imprecisely.
    uint32_t inner = dot.getA().getType().getDimSize(1), imprecise = std::min(dot.getMaxNumImpreciseAcc(), inner);
    auto sum = DotOp::create(rewriter, dot.getLoc(), dot.getType(), dot.getA(), dot.getB(), acc, dot.getPrecision(),
                             imprecise, dot.getEngineAttr());
    rewriter.replaceOp(add, sum);
    rewriter.eraseOp(dot);
    return success();
  }

private:
  /// Returns the dot that produces the operand, if its accumulator is zero and it has no other use.
  static DotOp findProduct(AddOp add, unsigned operand) {
    auto dot = add->getOperand(operand).template getDefiningOp<DotOp>();
    bool isProduct = dot && dot->hasOneUse() && dot->getBlock() == add->getBlock() &&
                     (matchPattern(dot.getAcc(), m_AnyZeroFloat()) || matchPattern(dot.getAcc(), m_Zero()));
    return isProduct ? dot : DotOp();
  }
};

} // namespace

void DotOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AddToAccumulator<arith::AddFOp>, AddToAccumulator<arith::AddIOp>>(context);
}
