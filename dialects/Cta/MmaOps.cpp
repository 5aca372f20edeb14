// Verification of matrix products.
#include "Cta/CtaDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

static LogicalResult verifyProduct(Operation *op, ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> acc) {
  if (a.size() != 2 || b.size() != 2 || acc.size() != 2)
    return op->emitOpError() << "operands have ranks " << a.size() << ", " << b.size() << " and " << acc.size()
                             << "; a product takes matrices";
  if (a[1] != b[0] || acc[0] != a[0] || acc[1] != b[1])
    return op->emitOpError() << "a is " << a[0] << "x" << a[1] << ", b " << b[0] << "x" << b[1] << " and acc " << acc[0]
                             << "x" << acc[1] << "; their sizes do not fit";
  return success();
}

LogicalResult MmaSyncOp::verify() {
  if (getShape().size() != 3)
    return emitOpError() << "instruction shape has " << getShape().size() << " entries; it is m, n, k";
  if (!getLayoutAttr(getA().getType()) || !getLayoutAttr(getB().getType()) || !getLayoutAttr(getAcc().getType()))
    return emitOpError() << "operands must have layouts";
  return verifyProduct(*this, getA().getType().getShape(), getB().getType().getShape(), getAcc().getType().getShape());
}

LogicalResult FmaDotOp::verify() {
  if (!getLayoutAttr(getAcc().getType()))
    return emitOpError() << "accumulator must have a layout";
  return verifyProduct(*this, getA().getType().getShape(), getB().getType().getShape(), getAcc().getType().getShape());
}

LogicalResult WgmmaOp::verify() {
  if (!getLayoutAttr(getAcc().getType()))
    return emitOpError() << "accumulator must have a layout";
  for (Value operand : {getA(), Value(getB())}) {
    auto buffer = dyn_cast<BufferType>(operand.getType());
    if (buffer && buffer.getSlots() != 1)
      return emitOpError() << "operand has " << buffer.getSlots() << " slots; choose one with cta.slot";
  }
  auto registers = dyn_cast<RankedTensorType>(getA().getType());
  if (registers && !getLayoutAttr(registers))
    return emitOpError() << "left operand in registers must have a layout";
  ArrayRef<int64_t> shape = registers ? registers.getShape() : getBufferA().getType().getShape();
  return verifyProduct(*this, shape, getB().getType().getShape(), getAcc().getType().getShape());
}
