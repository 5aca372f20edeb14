// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/UnpackedOperands.h"

#include "Analysis/EngineChoice.h"
#include "Analysis/Recreate.h"
#include "Layout/ShapeTransforms.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

namespace {

/// The layout of a value, and the bytes of the largest load that it comes from.
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

  void share(DenseMap<ArrayRef<int64_t>, cta::LayoutAttr> &ofShapes) const {
    for (const auto &[value, derived] : known)
      if (derived.layout)
        ofShapes.try_emplace(cast<RankedTensorType>(value.getType()).getShape(), derived.layout);
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

  /// The layout derives from the operand with the largest load. Scales, of which a thread needs few, follow it.
  Derived ofLargest(Operation *op) {
    Derived largest;
    for (Value operand : op->getOperands())
      if (Derived derived = of(operand); derived.layout && derived.bytes > largest.bytes)
        largest = derived;
    return largest;
  }

  /// One of the two values that tl.join interleaves.
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

void tile::planUnpacked(KernelOp kernel, const DenseMap<Operation *, cta::LayoutAttr> &ofLoads,
                        DenseMap<ArrayRef<int64_t>, cta::LayoutAttr> &ofShapes) {
  auto plan = [&](Value operand, target::OperandSource source) {
    Derivation derivation(ofLoads);
    if (source == target::OperandSource::Threads && derivation.of(operand).isUnpacked)
      derivation.share(ofShapes);
  };
  kernel.walk([&](DotOp dot) {
    if (cta::BufferEngine engine = getBufferEngine(dot)) {
      plan(dot.getA(), engine.getSourceA());
      plan(dot.getB(), engine.getSourceB());
    }
  });
}
