// Verification of dots.
#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// Accumulator types that the element types `a` and `b` allow, empty if they do not go together.
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
    return emitOpError() << "accumulator is " << acc.getDimSize(0) << "x" << acc.getDimSize(1) << " but the product is "
                         << m << "x" << n;
  SmallVector<Type> accumulators = accumulatorsFor(a.getElementType(), b.getElementType());
  if (accumulators.empty())
    return emitOpError() << "cannot multiply " << a.getElementType() << " by " << b.getElementType();
  if (!llvm::is_contained(accumulators, acc.getElementType()))
    return emitOpError() << "cannot accumulate products of " << a.getElementType() << " in " << acc.getElementType();
  return success();
}
