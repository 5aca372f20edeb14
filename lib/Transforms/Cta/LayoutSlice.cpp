// Slices of operations that compute a value in another layout: collection, cost and re-creation.
//
// Re-created: splat constants, ranges, splats, element-wise operations, shape operations (their operand's layout
// follows from the result's), conversions (looked through) and values that loops carry or branches result in (these
// then have the new layout, and former uses convert back). Everything else is a leaf, which is converted.
#include "Transforms/Cta/LayoutSlice.h"

#include "Analysis/CarriedValue.h"
#include "Layout/ShapeTransforms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

/// To compute as much again is never cheaper than a conversion. Also what keeps the pass linear in the size of a
/// kernel.
static constexpr size_t maxSlice = 512;

int64_t LayoutSlicer::bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * getBytesInMemory(type.getElementType());
}

bool tile::meansTheSameIn(cta::LayoutAttr layout, Operation *op) {
  auto text = dyn_cast<InlineAsmOp>(op);
  if (!text)
    return true;
  const LinearLayout &map = layout.getLayout();
  if (map.numRegisters() < text.getPack())
    return false;
  for (uint64_t element = 1; element < text.getPack(); element *= 2)
    if (map.applyFlat({{layout::registerDim, int64_t(element)}}) != element)
      return false;
  return true;
}

/// If `op` can be re-created in `layout`, the layouts of its tensor operands (all the same), else none.
static std::optional<cta::LayoutAttr> operandLayout(Operation *op, cta::LayoutAttr layout) {
  auto attribute = [&](const LinearLayout &map) { return cta::LayoutAttr::get(op->getContext(), map); };
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue()) ? std::optional(layout) : std::nullopt;
  if (isa<ArangeOp, SplatOp, AddPtrOp>(op))
    return layout;
  // A region may compute for long.
  if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
      isMemoryEffectFree(op))
    return meansTheSameIn(layout, op) ? std::optional(layout) : std::nullopt;
  const LinearLayout &map = layout.getLayout();
  if (auto expand = dyn_cast<ExpandDimsOp>(op))
    return attribute(layout::removeDim(map, expand.getAxis()));
  if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
    LinearLayout operand = map;
    for (auto [axis, size] : llvm::enumerate(broadcast.getSrc().getType().getShape()))
      if (size != broadcast.getResult().getType().getDimSize(axis))
        operand = layout::clampDim(operand, axis);
    return attribute(operand);
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    ArrayRef<int64_t> shape = reshape.getSrc().getType().getShape();
    return attribute(layout::reshape(map, {shape.begin(), shape.end()}));
  }
  if (auto trans = dyn_cast<TransOp>(op)) {
    std::vector<unsigned> inverse(trans.getOrder().size());
    for (auto [result, operand] : llvm::enumerate(trans.getOrder()))
      inverse[operand] = result;
    return attribute(layout::permuteDims(map, inverse));
  }
  return std::nullopt;
}

LayoutSlice LayoutSlicer::plan(Value value, cta::LayoutAttr layout, int64_t limit) {
  LayoutSlice slice;
  slice.limit = limit;
  visit(value, layout, slice);
  return slice;
}

void LayoutSlicer::visit(Value value, cta::LayoutAttr layout, LayoutSlice &slice) {
  if (!isa<RankedTensorType>(value.getType()) || cta::getLayoutAttr(value.getType()) == layout)
    return;
  if (slice.isTooDear() || slice.recreated.contains({value, layout}))
    return;
  if (slice.recreated.size() >= maxSlice) {
    slice.cost = slice.limit;
    return;
  }
  if (std::optional<CarriedValue> carried = CarriedValue::of(value)) {
    visitCarried(*carried, layout, slice);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast_or_null<cta::ConvertLayoutOp>(op)) {
    slice.recreated.insert({value, layout});
    visit(convert.getSrc(), layout, slice);
    return;
  }
  std::optional<cta::LayoutAttr> operands = op ? operandLayout(op, layout) : std::nullopt;
  if (!operands) {
    slice.cost += bytesOf(value);
    return;
  }
  slice.recreated.insert({value, layout});
  for (Value operand : op->getOperands())
    visit(operand, *operands, slice);
}

void LayoutSlicer::visitCarried(const CarriedValue &carried, cta::LayoutAttr layout, LayoutSlice &slice) {
  Value first = carried.values.front();
  if (slice.recreated.contains({first, layout}))
    return;
  // A value can be carried in one layout only.
  bool conflicts = settled.contains(first) || llvm::any_of(slice.recreated, [&](auto &entry) {
                     return entry.first == first && entry.second != layout;
                   });
  if (conflicts) {
    slice.cost += bytesOf(first);
    return;
  }
  slice.recreated.insert({first, layout});
  for (OpOperand *operand : carried.operands)
    visit(operand->get(), layout, slice);
  // Uses that stay in the old layout pay a conversion: of what a loop carries in every iteration, while behind a loop
  // one is nothing beside that.
  for (OpOperand &use : first.getUses()) {
    Operation *user = use.getOwner();
    std::optional<CarriedValue> fed = CarriedValue::fedBy(use);
    Value result = fed ? fed->values.front() : user->getNumResults() == 1 ? user->getResult(0) : Value();
    bool follows = isa<cta::ConvertLayoutOp>(user) || (result && slice.recreated.contains({result, layout}));
    if (!follows)
      slice.cost += bytesOf(first);
  }
}

Value LayoutSlicer::rewrite(Value value, cta::LayoutAttr layout) {
  current = plan(value, layout);
  created.clear();
  Value result = create(value, layout);
  // What a loop yields may depend on `result`, so it is created only now.
  while (!pending.empty()) {
    auto [operand, carried] = pending.pop_back_val();
    operand->set(create(operand->get(), carried));
  }
  return result;
}

Value LayoutSlicer::convertLeaf(Value value, cta::LayoutAttr layout) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto type = cta::withLayout(cast<RankedTensorType>(value.getType()), layout);
  return cta::ConvertLayoutOp::create(builder, value.getLoc(), type, value);
}

Value LayoutSlicer::create(Value value, cta::LayoutAttr layout) {
  if (!isa<RankedTensorType>(value.getType()) || cta::getLayoutAttr(value.getType()) == layout)
    return value;
  auto [entry, inserted] = created.try_emplace({value, layout});
  if (!inserted)
    return entry->second;
  std::optional<CarriedValue> carried = CarriedValue::of(value);
  if (carried && current.recreated.contains({carried->values.front(), layout})) {
    changeCarried(*carried, layout);
    return value;
  }
  Value result;
  if (!current.recreated.contains({value, layout})) {
    result = convertLeaf(value, layout);
  } else if (auto convert = value.getDefiningOp<cta::ConvertLayoutOp>()) {
    result = create(convert.getSrc(), layout);
  } else {
    Operation *op = value.getDefiningOp();
    cta::LayoutAttr operandsLayout = *operandLayout(op, layout);
    // By index: creating an operand may replace operands of `op` itself, when a loop's value changes its layout.
    SmallVector<Value> operands;
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      operands.push_back(create(op->getOperand(i), operandsLayout));
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Operation *clone = builder.clone(*op);
    clone->setOperands(operands);
    auto type = cta::withLayout(cast<RankedTensorType>(value.getType()), layout);
    clone->getResult(0).setType(type);
    if (auto constant = dyn_cast<arith::ConstantOp>(clone))
      constant.setValueAttr(cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
    result = clone->getResult(0);
  }
  created[{value, layout}] = result;
  return result;
}

void LayoutSlicer::changeCarried(const CarriedValue &carried, cta::LayoutAttr layout) {
  auto oldType = cast<RankedTensorType>(carried.values.front().getType());
  settled.insert(carried.values.front());
  OpBuilder builder(oldType.getContext());
  for (Value value : carried.values) {
    value.setType(cta::withLayout(oldType, layout));
    builder.setInsertionPointAfterValue(value);
    auto old = cta::ConvertLayoutOp::create(builder, value.getLoc(), oldType, value);
    value.replaceAllUsesExcept(old, old);
    // Clones refer to the carried value by its old uses' conversion.
    created[{old, layout}] = value;
    current.recreated.insert({old, layout});
  }
  for (OpOperand *operand : carried.operands)
    pending.emplace_back(operand, layout);
}
