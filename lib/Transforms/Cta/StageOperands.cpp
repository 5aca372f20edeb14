// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses where wgmma operands are stored, and which of their dimensions is contiguous.
//
// 16-bit operands may have either dimension contiguous. The dimension along which they are loaded is chosen, so that
// whole vectors are stored, or copied by cp.async later. 8-bit operands must have k contiguous.
#include "Transforms/Cta/StageOperands.h"

#include "Analysis/Engines/EngineChoice.h"
#include "Analysis/Flow/Recreate.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Layout/TensorMemoryLayout.h"
#include "Tile/TileDialect.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// Returns the dimension in which a thread's registers, or else neighbouring lanes, hold consecutive elements of a
/// matrix.
static unsigned contiguousDimOf(RankedTensorType matrix) {
  const layout::LinearLayout &layout = cta::getLayout(matrix);
  for (layout::Bases bases : {layout.bases(layout::registerDim), layout.bases(layout::laneDim)})
    for (unsigned dim : {0u, 1u})
      if (!bases.empty() && bases.front()[dim] == 1)
        return dim;
  return 1;
}

/// Returns the dimension of `value` that is contiguous in the largest tensor from which it is loaded or computed; if
/// there is none, the dimension that is contiguous in the layout of `value`.
static unsigned findContiguousDim(Value value) {
  llvm::SetVector<std::pair<Value, unsigned>> visited; // each with 1 if it is transposed, else 0
  visited.insert({value, 0});
  Value largest;
  unsigned isTransposed = 0;
  for (size_t index = 0; index < visited.size(); ++index) {
    auto [current, transposed] = visited[index];
    Operation *op = current.getDefiningOp();
    if (isa_and_nonnull<LoadOp, ReshapeOp>(op)) {
      if (!largest || LayoutSlicer::bytesOf(current) > LayoutSlicer::bytesOf(largest)) {
        largest = current;
        isTransposed = transposed;
      }
    } else if (op && (isElementwise(op) || isa<cta::ConvertLayoutOp, TransOp>(op))) {
      for (Value operand : op->getOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.getType()); type && type.getRank() == 2)
          visited.insert({operand, transposed ^ unsigned(isa<TransOp>(op))});
    }
  }
  unsigned dim = contiguousDimOf(cast<RankedTensorType>((largest ? largest : value).getType()));
  return dim ^ isTransposed;
}

/// Stores a value to a new buffer after its definition.
static Value storeTo(cta::LayoutAttr layout, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  OpBuilder builder(type.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  Value buffer = cta::AllocOp::create(
      builder, loc, cta::BufferType::get(type.getContext(), type.getShape(), type.getElementType(), layout, 1),
      /*offset=*/IntegerAttr());
  cta::LocalStoreOp::create(builder, loc, value, buffer);
  cta::ProxyFenceOp::create(builder, loc);
  return buffer;
}

Value OperandStage::getBuffer(Value value, Form form) {
  auto type = cast<RankedTensorType>(value.getType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  std::vector<unsigned> order{form.contiguousDim, 1 - form.contiguousDim};
  unsigned bytes = getBytesInMemory(type.getElementType());
  unsigned swizzle = std::min<unsigned>(layout::chooseSwizzle(shape, bytes, order), form.panelElements * bytes);
  Value &buffer = buffers[{value, {form.contiguousDim, swizzle}}];
  if (buffer)
    return buffer;
  auto layout = cta::LayoutAttr::get(type.getContext(), layout::swizzledShared(shape, bytes, order, swizzle));
  return buffer = storeTo(layout, value);
}

void OperandStage::storeScales(OpOperand &scales) {
  auto type = cast<RankedTensorType>(scales.get().getType());
  auto layout = cta::LayoutAttr::get(type.getContext(), layout::scalesLayout(type.getDimSize(0), type.getDimSize(1)));
  Value buffer = storeTo(layout, scales.get());
  OpBuilder builder(scales.getOwner());
  scales.set(cta::LocalLoadOp::create(builder, scales.getOwner()->getLoc(), type, buffer, /*start=*/{}));
}

/// Repeats a matrix along a dimension up to `size`; each thread repeats the elements that it has.
static Value repeatAlong(Value matrix, unsigned dim, int64_t size) {
  auto type = cast<RankedTensorType>(matrix.getType());
  OpBuilder builder(type.getContext());
  builder.setInsertionPointAfterValue(matrix);
  Location loc = matrix.getLoc();
  auto typeOf = [&](const layout::LinearLayout &layout) {
    return RankedTensorType::get(layout.outShape(), type.getElementType(),
                                 cta::LayoutAttr::get(type.getContext(), layout));
  };
  layout::LinearLayout expanded = layout::insertUnitDim(cta::getLayout(type), dim),
                       repeated = layout::repeatDim(expanded, dim, size / type.getDimSize(dim));
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  shape[dim] = size;
  Value result = ExpandDimsOp::create(builder, loc, typeOf(expanded), matrix, dim);
  result = BroadcastOp::create(builder, loc, typeOf(repeated), result);
  return ReshapeOp::create(builder, loc, typeOf(layout::reshape(repeated, shape)), result);
}

void OperandStage::store(OpOperand &operand, Form form, int64_t rows) {
  auto [value, transposed] = skipTranspositions(operand.get());
  if (transposed)
    form.contiguousDim = 1 - form.contiguousDim;
  DenseI32ArrayAttr start;
  if (unsigned dim = transposed; rows > cast<RankedTensorType>(value.getType()).getDimSize(dim)) {
    Value &repeated = repetitions[{value, {dim, rows}}];
    value = repeated = repeated ? repeated : repeatAlong(value, dim, rows);
    start = DenseI32ArrayAttr::get(value.getContext(), {0, 0});
  }
  Value buffer = getBuffer(value, form);
  OpBuilder builder(operand.getOwner());
  Location loc = operand.getOwner()->getLoc();
  if (transposed)
    buffer = cta::TransBufferOp::create(builder, loc, cast<cta::BufferType>(buffer.getType()).transposed(), buffer);
  Value unused = operand.get();
  operand.set(cta::LocalLoadOp::create(builder, loc, unused.getType(), buffer, start));
  eraseIfUnused(unused);
}

void OperandStage::store(DotOp dot) {
  cta::BufferEngine engine = getBufferEngine(dot);
  if (!engine)
    return;
  if (dot.isScaled())
    for (OpOperand *scales : {dot.getAScaleMutable().begin(), dot.getBScaleMutable().begin()})
      storeScales(*scales);
  unsigned bytes = getBytesInMemory(dot.getA().getType().getElementType());
  bool mayTranspose = bytes == 2;
  using target::OperandSource;
  if (engine.getSourceA() == OperandSource::Transposed)
    store(dot.getAMutable(), {1, widestPanel});
  if (engine.getSourceB() == OperandSource::Transposed)
    store(dot.getBMutable(), {0, widestPanel});
  // The dimension along which the operand is loaded is contiguous if a matrix descriptor supports that; otherwise k.
  bool isTransposed = engine.getResultTransposed();
  for (bool isA : {true, false}) {
    if ((isA ? engine.getSourceA() : engine.getSourceB()) != OperandSource::Threads)
      continue;
    OpOperand &operand = isA ? dot.getAMutable() : dot.getBMutable();
    const unsigned kDim = isA ? 1 : 0, contiguousDim = mayTranspose ? findContiguousDim(operand.get()) : kDim;
    if (isA != isTransposed) { // the left operand of the instruction
      auto tcgen05 = dyn_cast<cta::Tcgen05Attr>(Attribute(engine));
      store(operand, {contiguousDim, widestPanel}, tcgen05 && isA ? tcgen05.getM() : 0);
      continue;
    }
    // If n is contiguous, the columns of each warp group must begin at a panel, whose rows are swizzled.
    int64_t columns = cast<RankedTensorType>(operand.get().getType()).getDimSize(1 - kDim) / engine.getGroupsN();
    if (contiguousDim != kDim && columns * bytes >= target::minSwizzle)
      store(operand, {contiguousDim, std::min(columns, widestPanel)});
    else
      store(operand, {kDim, widestPanel});
  }
}
