// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/UnpackedOperands.h"

#include "Analysis/Engines/EngineChoice.h"
#include "Analysis/Flow/Recreate.h"
#include "Layout/ShapeTransforms.h"

using namespace mlir;
using namespace tile;

namespace {

/// The layout of a value, and the size of the largest load from which the value is computed.
struct Derived {
  cta::LayoutAttr layout;
  int64_t bytes = 0;
  bool isUnpacked = false;
};

class Derivation {
public:
  explicit Derivation(const DenseMap<Operation *, cta::LayoutAttr> &ofLoads) : ofLoads(ofLoads) {}

  Derived of(Value value) {
    auto [place, isNew] = known.insert({value, Derived()});
    if (!isNew)
      return place->second;
    Derived derived = derive(value);
    known[value] = derived;
    return derived;
  }

  /// Records derived layouts in `ofShapes` for shapes without a layout, and in `ofValues` for values whose shape has
  /// another.
  void share(DenseMap<ArrayRef<int64_t>, cta::LayoutAttr> &ofShapes, UnpackedLayouts &ofValues) const {
    for (const auto &[value, derived] : known) {
      if (!derived.layout)
        continue;
      auto [place, isNew] = ofShapes.try_emplace(cast<RankedTensorType>(value.getType()).getShape(), derived.layout);
      if (!isNew && place->second != derived.layout)
        ofValues.insert({value, derived.layout});
    }
  }

private:
  Derived derive(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()))
      return {};
    if (auto load = dyn_cast<LoadOp>(op))
      return {ofLoads.lookup(load), LayoutSlicer::bytesOf(value), false};
    if (auto broadcast = dyn_cast<BroadcastOp>(op))
      return ofJoined(broadcast);
    if (isa<TransOp, ReshapeOp>(op))
      return through(op);
    return isElementwise(op) ? ofLargest(op) : Derived();
  }

  /// Derives the layout from the operand with the largest load. Scales, of which a thread needs only a few, are
  /// converted to the layout of that operand.
  Derived ofLargest(Operation *op) {
    Derived largest;
    for (Value operand : op->getOperands())
      if (Derived derived = of(operand); derived.layout && derived.bytes > largest.bytes)
        largest = derived;
    return largest;
  }

  /// Derives the layout of one of the two values that tl.join interleaves.
  Derived ofJoined(BroadcastOp broadcast) {
    auto expand = broadcast.getSrc().getDefiningOp<ExpandDimsOp>();
    ArrayRef<int64_t> shape = broadcast.getType().getShape();
    if (!expand || shape.back() != 2 || expand.getSrc().getType().getShape() != shape.drop_back())
      return {};
    Derived part = of(expand.getSrc());
    if (!part.layout)
      return {};
    known[expand.getResult()] = {cast<cta::LayoutInterface>(*expand).getResultLayout(part.layout), part.bytes, true};
    auto joined = cta::LayoutAttr::get(broadcast.getContext(), layout::joinLayout(part.layout.getLayout()));
    return {joined, part.bytes, true};
  }

  Derived through(Operation *op) {
    Derived source = of(op->getOperand(0));
    if (source.layout)
      source.layout = cast<cta::LayoutInterface>(op).getResultLayout(source.layout);
    return source;
  }

  const DenseMap<Operation *, cta::LayoutAttr> &ofLoads;
  llvm::MapVector<Value, Derived> known;
};

} // namespace

UnpackedLayouts tile::planUnpacked(KernelOp kernel, const DenseMap<Operation *, cta::LayoutAttr> &ofLoads,
                                   DenseMap<ArrayRef<int64_t>, cta::LayoutAttr> &ofShapes) {
  UnpackedLayouts ofValues;
  kernel.walk([&](DotOp dot) {
    cta::BufferEngine engine = getBufferEngine(dot);
    if (!engine)
      return;
    Derivation left(ofLoads), right(ofLoads);
    bool isLeft = engine.getSourceA() == target::OperandSource::Threads,
         isRight = engine.getSourceB() == target::OperandSource::Threads;
    // If one operand is unpacked, the other one also keeps the layout of its load, because both may have the same
    // shape.
    if (!(isLeft && left.of(dot.getA()).isUnpacked) && !(isRight && right.of(dot.getB()).isUnpacked))
      return;
    if (isLeft && left.of(dot.getA()).layout)
      left.share(ofShapes, ofValues);
    if (isRight && right.of(dot.getB()).layout)
      right.share(ofShapes, ofValues);
  });
  return ofValues;
}

void tile::assignUnpacked(const UnpackedLayouts &ofValues) {
  auto convert = [](OpBuilder builder, Value value, cta::LayoutAttr layout) -> Value {
    auto type = cta::withLayout(cast<RankedTensorType>(value.getType()), layout);
    return type == value.getType() ? value : cta::ConvertLayoutOp::create(builder, value.getLoc(), type, value);
  };
  auto isPlanned = [&](Operation *op) { return op->getNumResults() == 1 && ofValues.contains(op->getResult(0)); };
  for (auto [value, layout] : ofValues) {
    Operation *op = value.getDefiningOp();
    cta::LayoutAttr shared = cta::getLayoutAttr(value.getType());
    value.setType(cta::withLayout(cast<RankedTensorType>(value.getType()), layout));
    OpBuilder after(op);
    after.setInsertionPointAfter(op);
    Value converted = convert(after, value, shared);
    value.replaceUsesWithIf(converted, [&](OpOperand &use) {
      return use.getOwner() != converted.getDefiningOp() && !isPlanned(use.getOwner());
    });
    if (converted.use_empty())
      converted.getDefiningOp()->erase();
  }
  for (auto [value, layout] : ofValues)
    if (Operation *op = value.getDefiningOp(); isElementwise(op))
      for (OpOperand &operand : op->getOpOperands())
        operand.set(convert(OpBuilder(op), operand.get(), layout));
}
