// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The types of the dialect: syntax and verification, and views of buffers.
#include "Cta/CtaDialect.h"

#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Tile/TileShapes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

#define GET_TYPEDEF_CLASSES
#include "Cta/CtaTypes.cpp.inc"

void CtaDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "Cta/CtaTypes.cpp.inc"
      >();
}

Type cta::getSlotType(Type ringOrBarrier) {
  MLIRContext *context = ringOrBarrier.getContext();
  return isa<RingType>(ringOrBarrier) ? Type(RingSlotType::get(context)) : IntegerType::get(context, 32);
}

bool BufferType::isPadded() const {
  return getShape() != ArrayRef<int64_t>(getLayout().getLayout().outShape());
}

int64_t BufferType::getBytesPerSlot() const {
  return *layout::usedExtent(getLayout().getLayout(), getShape().vec()) * getBytesInMemory(getElementType());
}

int64_t BufferType::getBlockBytes() const {
  return ShapedType::getNumElements(getShape()) * getBytesInMemory(getElementType());
}

BufferType BufferType::withSlots(int64_t slots) const {
  return get(getContext(), getShape(), getElementType(), getLayout(), slots);
}

BufferType BufferType::transposed() const {
  ArrayRef<int64_t> shape = getShape();
  auto layout = LayoutAttr::get(getContext(), layout::permuteDims(getLayout().getLayout(), {1, 0}));
  return get(getContext(), {shape[1], shape[0]}, getElementType(), layout, getSlots());
}

BufferType BufferType::getPart(int64_t count) const {
  if (getShape().size() != 2 || isPadded() || count < 1)
    return {};
  const int64_t columns = getShape().back();
  for (unsigned axis : {0u, 1u}) {
    std::vector<int64_t> shape = getShape().vec();
    if (shape[axis] % count != 0)
      continue;
    shape[axis] /= count;
    std::vector<uint64_t> offsets = getLayout().getLayout().flatBases(layout::offsetDim);
    // The highest offset bits must select the parts, in order.
    int64_t step = shape[axis] * (axis == 0 ? columns : 1), part = count;
    for (; part > 1 && offsets.back() == uint64_t(step * part / 2); part /= 2)
      offsets.pop_back();
    // The remaining bits must not select a part.
    bool staysInside = llvm::all_of(offsets, [&](uint64_t offset) {
      return int64_t(offset / columns) < shape[0] && int64_t(offset % columns) < shape[1];
    });
    if (part > 1 || !staysInside)
      continue;
    for (uint64_t &offset : offsets)
      offset = offset / columns * shape[1] + offset % columns;
    auto layout = LayoutAttr::get(getContext(), layout::LinearLayout::shared(offsets, shape));
    return get(getContext(), shape, getElementType(), layout, /*slots=*/1);
  }
  return {};
}

LogicalResult BufferType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type element,
                                 LayoutAttr layout, int64_t slots) {
  const layout::LinearLayout &map = layout.getLayout();
  if (std::optional<std::string> problem = layout::verifyShared(map))
    return emitError() << "not a layout of a buffer: " << *problem;
  if (!isBlockElement(element))
    return emitError() << "element is " << element << " but must be an integer or float of 1 to 64 bits, or a pointer";
  for (int64_t size : shape)
    if (size < 1)
      return emitError() << "buffer is [" << shape << "]; all sizes must be at least 1";
  if (!isBlockShape(shape))
    return emitError() << "buffer is [" << shape << "]; expected 1 to " << maxBlockElements << " elements";
  if (ArrayRef<int64_t>(map.outShape()) != ArrayRef(getPaddedShape(shape)))
    return emitError() << "layout is for shape [" << ArrayRef<int64_t>(map.outShape()) << "] but the buffer is ["
                       << shape << "]";
  if (!layout::usedExtent(map, shape.vec()))
    return emitError() << "buffer is [" << shape
                       << "]; only the slowest dimension of its layout may have a size that is "
                       << "not a power of two";
  if (slots < 1)
    return emitError() << "buffer has " << slots << " slots but needs at least 1";
  if (slots > maxSlots)
    return emitError() << "buffer has " << slots << " slots; at most " << maxSlots << " are allowed";
  return success();
}

// `<64x32xf16, #cta.layout<…>, slots = 3>`
Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  LayoutAttr layout;
  int64_t slots = 1;
  if (parser.parseLess() || parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element) ||
      parser.parseComma() || parser.parseAttribute(layout))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("slots") || parser.parseEqual() || parser.parseInteger(slots)))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<BufferType>(parser.getContext(), shape, element, layout, slots);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << ", " << getLayout();
  if (getSlots() != 1)
    printer << ", slots = " << getSlots();
  printer << '>';
}
