// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of matrix multiply-accumulates.
#include "Cta/CtaDialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

static LogicalResult verifyMmaShapes(Operation *op, ArrayRef<int64_t> a, ArrayRef<int64_t> b, ArrayRef<int64_t> acc) {
  if (a.size() != 2 || b.size() != 2 || acc.size() != 2)
    return op->emitOpError() << "operands have ranks " << a.size() << ", " << b.size() << " and " << acc.size()
                             << "; all must be matrices";
  if (a[1] != b[0] || acc[0] != a[0] || acc[1] != b[1])
    return op->emitOpError() << "a is " << a[0] << "x" << a[1] << ", b is " << b[0] << "x" << b[1] << " and acc is "
                             << acc[0] << "x" << acc[1] << "; their sizes must agree";
  return success();
}

Type MmaSyncOp::getMultipliedType(Value operand) {
  Type element = getElementTypeOrSelf(operand);
  return getAScale() && element.isInteger(8) ? Float4E2M1FNType::get(getContext()) : element;
}

unsigned MmaSyncOp::getScaleGroup() {
  if (!getAScale())
    return 0;
  bool isPacked = isa<Float4E2M1FNType>(getMultipliedType(getA()));
  return unsigned(getA().getType().getDimSize(1) * (isPacked ? 2 : 1) / getAScale().getType().getDimSize(1));
}

LogicalResult MmaSyncOp::verify() {
  if (bool(getAScale()) != bool(getBScale()))
    return emitOpError() << "has scales for one operand; expected scales for both or for none";
  if (getShape().size() != 3)
    return emitOpError() << "instruction shape has " << getShape().size() << " entries; it is m, n, k";
  if (!getLayoutAttr(getA().getType()) || !getLayoutAttr(getB().getType()) || !getLayoutAttr(getAcc().getType()))
    return emitOpError() << "operands must have layouts";
  return verifyMmaShapes(*this, getA().getType().getShape(), getB().getType().getShape(),
                         getAcc().getType().getShape());
}

LogicalResult FmaDotOp::verify() {
  if (!getLayoutAttr(getAcc().getType()))
    return emitOpError() << "accumulator must have a layout";
  return verifyMmaShapes(*this, getA().getType().getShape(), getB().getType().getShape(),
                         getAcc().getType().getShape());
}

LogicalResult WgmmaOp::verify() {
  // The shapes of PTX's wgmma.mma_async are m64nNkK.
  if (int64_t n = int32_t(getN()); n < 8 || n > 256 || n % 8 != 0)
    return emitOpError() << "has instructions of " << n << " columns; expected a multiple of 8 up to 256";
  if (!getLayoutAttr(getAcc().getType()))
    return emitOpError() << "accumulator must have a layout";
  for (Value operand : {getA(), Value(getB())}) {
    auto buffer = dyn_cast<BufferType>(operand.getType());
    if (buffer && buffer.getSlots() != 1)
      return emitOpError() << "operand has " << buffer.getSlots() << " slots; choose one with cta.slot";
  }
  // According to the PTX ISA, an instruction takes 32 bytes along k.
  constexpr uint32_t instructionK = 32;
  if (uint32_t step = getPromote().value_or(instructionK); step % instructionK != 0)
    return emitOpError() << "promotes accumulators of " << step << " elements along k; expected a multiple of "
                         << instructionK;
  Type elementB = getB().getType().getElementType();
  if (getPromote() && (!isa<Float8E4M3FNType, Float8E5M2Type>(elementB) || getAccumulate()))
    return emitOpError() << "promotes accumulators; this requires 8-bit floats, and no condition for adding to acc";
  auto registers = dyn_cast<RankedTensorType>(getA().getType());
  if (registers && !getLayoutAttr(registers))
    return emitOpError() << "left operand in registers must have a layout";
  // If the accumulator has more columns than b, only its first columns are computed.
  SmallVector<int64_t> acc(getAcc().getType().getShape()), b(getB().getType().getShape());
  if (acc.size() == 2 && b.size() == 2 && acc[1] == getPaddedShape(b)[1])
    acc[1] = b[1];
  return verifyMmaShapes(*this, registers ? registers.getShape() : getBufferA().getType().getShape(), b, acc);
}

IntegerAttr WgmmaOp::getColumnsAttr() {
  int64_t columns = getB().getType().getShape()[1];
  if (columns == getAcc().getType().getDimSize(1))
    return {};
  return Builder(getContext()).getI32IntegerAttr(columns);
}

LogicalResult AwaitOp::verify() {
  RankedTensorType acc = getAcc().getType();
  std::optional<uint32_t> columns = getColumns();
  if (columns && (acc.getRank() != 2 || int32_t(*columns) < 1 || *columns > acc.getDimSize(1)))
    return emitOpError() << "awaits " << int32_t(*columns) << " columns of "
                         << RankedTensorType::get(acc.getShape(), acc.getElementType());
  return success();
}
