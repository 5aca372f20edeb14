// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor memory: its type, and the verification of operations that access tensor memory.
#include "Cta/CtaDialect.h"

#include "Layout/TensorMemoryLayout.h"
#include "Target/Engines/Tcgen05.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

Type TensorMemoryType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  int64_t slots = 1;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("slots") || parser.parseEqual() || parser.parseInteger(slots)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<TensorMemoryType>(start, parser.getContext(), ArrayRef<int64_t>(shape), element, slots);
}

void TensorMemoryType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType();
  if (getSlots() != 1)
    printer << ", slots = " << getSlots();
  printer << '>';
}

static unsigned elementsPerColumn(Type element) {
  constexpr unsigned columnBits = 32;
  return columnBits / element.getIntOrFloatBitWidth();
}

LogicalResult TensorMemoryType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape,
                                       Type element, int64_t slots) {
  bool isAccumulator = element.isF32() || element.isInteger(32);
  if (!isAccumulator && !getMmaType(element))
    return emitError() << "tensor memory can hold only elements that tcgen05 multiplies or accumulates, not "
                       << element;
  bool hasPowers = shape.size() == 2 && llvm::all_of(shape, [](int64_t size) { return llvm::isPowerOf2_64(size); });
  if (!hasPowers || shape[0] < 64 || shape[1] < 8)
    return emitError() << "an accumulator in tensor memory must be a matrix of at least 64 rows and 8 columns, both "
                          "powers of two";
  unsigned perColumn = elementsPerColumn(element);
  if (!isAccumulator && (shape[0] < target::tensorMemoryLanes || shape[1] < 8 * perColumn))
    return emitError() << "an operand in tensor memory must have at least 128 rows and 8 columns of 32 bits, not "
                       << shape[0] << 'x' << shape[1] << 'x' << element;
  int64_t columns = target::tensorColumnsOf(shape[0], shape[1] / perColumn);
  if (slots < 1 || slots > target::tensorMemoryColumns)
    return emitError() << "has " << slots << " slots; expected 1 to " << target::tensorMemoryColumns;
  if ((columns *= slots) > target::tensorMemoryColumns)
    return emitError() << "takes " << columns << " columns of tensor memory, which has " << target::tensorMemoryColumns;
  return success();
}

unsigned TensorMemoryType::getElementsPerColumn() const {
  return elementsPerColumn(getElementType());
}

unsigned TensorMemoryType::getColumnsPerSlot() const {
  return target::tensorColumnsOf(getShape()[0], getShape()[1] / getElementsPerColumn());
}

bool TensorMemoryAllocOp::holdsOperand() {
  return llvm::any_of((*this)->getUsers(), [&](Operation *user) {
    auto mma = dyn_cast<Tcgen05MmaOp>(user);
    return mma && mma.getA() == getResult();
  });
}

bool TensorMemoryAllocOp::holdsScales() {
  return llvm::any_of((*this)->getUsers(), [&](Operation *user) {
    auto mma = dyn_cast<Tcgen05MmaOp>(user);
    return mma && mma.getScales() == getResult();
  });
}

TensorMemoryType TensorMemoryType::withSlots(int64_t slots) const {
  return get(getContext(), getShape(), getElementType(), slots);
}

LayoutAttr TensorMemoryType::getRegisterLayout(unsigned warps) const {
  return LayoutAttr::get(getContext(), layout::tensorMemoryLayout(getShape()[0], getShape()[1], warps));
}

static LogicalResult verifyAccess(Operation *op, RankedTensorType value, TensorMemoryType memory) {
  LayoutAttr layout = getLayoutAttr(value);
  if (memory.getSlots() != 1)
    return op->emitOpError() << "accesses " << memory.getSlots() << " slots; choose one with cta.tensor_memory_slot";
  constexpr int64_t minRows = 64; // tensors with fewer rows are repeated
  ArrayRef<int64_t> shape = value.getShape();
  bool isWhole = shape == memory.getShape() ||
                 (shape.size() == 2 && shape[0] < minRows && ArrayRef<int64_t>{minRows, shape[1]} == memory.getShape());
  if (!isWhole || value.getElementType() != memory.getElementType())
    return op->emitOpError() << "moves " << value << ", but the memory is " << memory;
  unsigned warps = layout ? unsigned(layout.getLayout().numWarps()) : 0;
  auto expected = [&] {
    return shape == memory.getShape()
               ? memory.getRegisterLayout(warps)
               : LayoutAttr::get(op->getContext(), layout::tensorMemoryLayout(shape[0], shape[1], warps));
  };
  if (warps % target::warpsPerGroup != 0 || warps == 0 || layout != expected())
    return op->emitOpError() << "needs the register layout of " << memory;
  return success();
}

LogicalResult TensorMemoryOpenOp::verify() {
  uint32_t columns = getColumns();
  if (columns < target::minTensorMemoryColumns || columns > target::tensorMemoryColumns ||
      !llvm::isPowerOf2_32(columns))
    return emitOpError() << "allocates " << columns << " columns; expected a power of two from "
                         << target::minTensorMemoryColumns << " to " << target::tensorMemoryColumns;
  return success();
}

LogicalResult TensorMemorySlotOp::verify() {
  if (getResult().getType() != getMemory().getType().withSlots(1))
    return emitOpError() << "is of type " << getResult().getType() << ", but a slot of " << getMemory().getType()
                         << " is " << getMemory().getType().withSlots(1);
  return success();
}

LogicalResult TensorMemoryLoadOp::verify() {
  return verifyAccess(*this, cast<RankedTensorType>(getResult().getType()), getMemory().getType());
}

LogicalResult TensorMemoryStoreOp::verify() {
  return verifyAccess(*this, cast<RankedTensorType>(getValue().getType()), getMemory().getType());
}

ArrayRef<int64_t> Tcgen05MmaOp::getShapeA() {
  BufferType buffer = getBufferA();
  return buffer ? buffer.getShape() : cast<TensorMemoryType>(getA().getType()).getShape();
}

Type Tcgen05MmaOp::getMultipliedTypeA() {
  BufferType buffer = getBufferA();
  return buffer ? getMultipliedType(buffer) : cast<TensorMemoryType>(getA().getType()).getElementType();
}

Type Tcgen05MmaOp::getMultipliedType(BufferType buffer) {
  Type element = buffer.getElementType();
  return getAScale() && element.isInteger(8) ? Float4E2M1FNType::get(getContext()) : element;
}

unsigned Tcgen05MmaOp::getScaleGroup() {
  if (!getAScale())
    return 0;
  int64_t bits = target::mmaTypeBits(*getMmaType(getMultipliedTypeA()));
  int64_t depth = getShapeA()[1] * 8 / bits;
  return unsigned(depth / getAScale().getType().getShape()[1]);
}

/// Checks that the buffers and the tensor memory can hold the scales of all rows, columns and groups.
static LogicalResult verifyScales(Tcgen05MmaOp op) {
  unsigned columns = 0;
  int64_t groups = op.getAScale().getType().getShape().back();
  for (auto [scale, lines] : {std::pair(op.getAScale().getType(), op.getShapeA()[0]),
                              {op.getBScale().getType(), op.getB().getType().getShape()[1]}}) {
    bool isMatrix = scale.getShape() == ArrayRef<int64_t>({lines, groups}) && scale.getSlots() == 1 &&
                    target::scaleColumnsOf(lines, groups) != 0;
    if (!isMatrix || scale.getElementType() != op.getAScale().getType().getElementType() ||
        scale.getLayout().getLayout() != layout::scalesLayout(lines, groups))
      return op.emitOpError() << "needs scales of " << lines << " lines in the layout of tcgen05.cp, not " << scale;
    columns += target::scaleColumnsOf(lines, groups);
  }
  if (op.getScales().getType().getColumns() < columns)
    return op.emitOpError() << "needs " << columns << " columns for scales, not " << op.getScales().getType();
  return success();
}

LogicalResult Tcgen05MmaOp::verify() {
  if (bool(getAScale()) != bool(getBScale()) || bool(getAScale()) != bool(getScales()))
    return emitOpError()
           << "has only some of the scales of a, the scales of b and their tensor memory; expected all or none";
  ArrayRef<int64_t> a = getShapeA(), b = getB().getType().getShape(), acc = getAcc().getType().getShape();
  int64_t slotsA = getBufferA() ? getBufferA().getSlots() : cast<TensorMemoryType>(getA().getType()).getSlots();
  if (a.size() != 2 || b.size() != 2 || slotsA != 1 || getB().getType().getSlots() != 1 ||
      getAcc().getType().getSlots() != 1)
    return emitOpError() << "operands and accumulator must be matrices of one slot each";
  if (a[1] != b[0] || a[0] != acc[0] || int64_t(llvm::PowerOf2Ceil(b[1])) != acc[1])
    return emitOpError() << "a is " << a[0] << "x" << a[1] << ", b is " << b[0] << "x" << b[1] << " and acc is "
                         << acc[0] << "x" << acc[1] << "; their sizes must agree";
  if (getAScale() && !getBufferA())
    return emitOpError() << "has scales, but a is in tensor memory; expected a buffer";
  if (getAScale() && failed(verifyScales(*this)))
    return failure();
  std::optional<target::MmaType> typeA = getMmaType(getMultipliedTypeA()),
                                 typeB = getMmaType(getMultipliedType(getB().getType())),
                                 typeAcc = getAccumulatorType(getAcc().getType().getElementType());
  if (!typeA || !typeB || !typeAcc ||
      !target::isTcgen05Instruction(*typeA, *typeB, *typeAcc, getM(), getN(), getScaleGroup()) || a[0] % getM() != 0 ||
      b[1] % getN() != 0)
    return emitOpError() << "has no instruction of " << getM() << " rows and " << getN() << " columns for "
                         << getMultipliedTypeA() << " times " << getB().getType().getElementType() << " into "
                         << getAcc().getType();
  return success();
}
