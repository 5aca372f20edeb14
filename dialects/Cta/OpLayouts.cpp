// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements LayoutInterface for operations of other dialects: tile, arith and math.
//
// All operands and results of an elementwise operation have the same layout, so these operations need no code of their
// own here. For shape changes, the layouts follow from ShapeChange. If a result dimension has no source dimension, all
// threads replicate its elements; operand and result layouts determine each other only if there is no such dimension.
#include "Cta/CtaDialect.h"

#include "Layout/AxisOrder.h"
#include "Layout/Movement.h"
#include "Layout/ShapeTransforms.h"
#include "Tile/Commutative.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;
using layout::LinearLayout;

static std::vector<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape().vec();
}

LinearLayout cta::getSourceCoordinates(ShapeChange op, const LinearLayout &result) {
  std::optional<SourceDims> dims = op.getSourceDims();
  std::vector<int64_t> shape = shapeOf(op->getOperand(0));
  if (!dims)
    return layout::reshape(result, shape);
  LinearLayout layout = result;
  // First drops the result dimensions without a source dimension, then permutes the others to the operand's order.
  SmallVector<unsigned> kept;
  for (std::optional<unsigned> dim : *dims) {
    if (dim)
      kept.push_back(*dim);
    else
      layout = layout::projectDim(layout, kept.size());
  }
  if (!llvm::is_sorted(kept)) {
    std::vector<unsigned> order;
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (auto found = llvm::find(kept, dim); found != kept.end())
        order.push_back(found - kept.begin());
    layout = layout::permuteDims(layout, order);
  }
  // Inserts the operand's dimensions of size 1 that are broadcast.
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    if (!llvm::is_contained(kept, dim))
      layout = layout::insertUnitDim(layout, dim);
  return layout;
}

namespace {

/// Elementwise operations: each thread computes the results for the operand elements that it holds.
template <typename Op> struct ElementwiseLayout : LayoutInterface::ExternalModel<ElementwiseLayout<Op>, Op> {
  LayoutAttr getOperandLayout(Operation *, LayoutAttr result) const { return result; }
  LayoutAttr getResultLayout(Operation *, LayoutAttr operand) const { return operand; }
  std::optional<TensorPart> getOperandPart(Operation *, TensorPart part) const { return part; }
};

/// Inline assembly. One execution computes `pack` elements together, so these must be consecutive elements of a thread
/// in row-major order: the lowest register bits must index them.
struct InlineAsmLayout : LayoutInterface::ExternalModel<InlineAsmLayout, InlineAsmOp> {
  static LayoutAttr ifNeighbours(Operation *op, LayoutAttr layout) {
    int64_t pack = cast<InlineAsmOp>(op).getPack();
    const LinearLayout &map = layout.getLayout();
    if (map.numRegisters() < pack)
      return {};
    for (int64_t element = 1; element < pack; element *= 2)
      if (map.applyFlat({{layout::registerDim, element}}) != uint64_t(element))
        return {};
    return layout;
  }
  LayoutAttr getOperandLayout(Operation *op, LayoutAttr result) const { return ifNeighbours(op, result); }
  LayoutAttr getResultLayout(Operation *op, LayoutAttr operand) const { return ifNeighbours(op, operand); }
  std::optional<TensorPart> getOperandPart(Operation *op, TensorPart part) const {
    return cast<InlineAsmOp>(op).getPack() == 1 ? std::optional(part) : std::nullopt;
  }
};

/// Operations whose results can be created in any layout.
template <typename Model, typename Op> struct CreationLayout : LayoutInterface::ExternalModel<Model, Op> {
  LayoutAttr getOperandLayout(Operation *, LayoutAttr result) const { return result; }
  LayoutAttr getResultLayout(Operation *, LayoutAttr) const { return {}; }
  std::optional<TensorPart> getOperandPart(Operation *, TensorPart part) const { return part; }
};

struct SplatLayout : CreationLayout<SplatLayout, SplatOp> {};

struct ArangeLayout : CreationLayout<ArangeLayout, ArangeOp> {
  Value recreate(Operation *op, OpBuilder &builder, ValueRange, RankedTensorType type, TensorPart part) const {
    int64_t start = int32_t(cast<ArangeOp>(op).getStart()) + (part.dim ? part.first : 0);
    return ArangeOp::create(builder, op->getLoc(), type, start, start + type.getDimSize(0));
  }
};

/// Splat constants.
struct ConstantLayout : CreationLayout<ConstantLayout, arith::ConstantOp> {
  static bool isSplat(Operation *op) { return isa<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue()); }
  LayoutAttr getOperandLayout(Operation *op, LayoutAttr result) const { return isSplat(op) ? result : LayoutAttr(); }
  std::optional<TensorPart> getOperandPart(Operation *op, TensorPart part) const {
    return isSplat(op) ? std::optional(part) : std::nullopt;
  }
  Value recreate(Operation *op, OpBuilder &builder, ValueRange, RankedTensorType type, TensorPart) const {
    auto value = cast<SplatElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return arith::ConstantOp::create(builder, op->getLoc(), value.resizeSplat(type));
  }
};

/// Butterflies. The layout is valid if no element crosses warps: an element and its partner must be held by the same
/// thread, or by lanes of the same warp.
struct ButterflyLayout : LayoutInterface::ExternalModel<ButterflyLayout, ButterflyOp> {
  static LayoutAttr ifInWarp(Operation *op, LayoutAttr layout) {
    auto butterfly = cast<ButterflyOp>(op);
    bool isInWarp = layout::findDistance(layout.getLayout(), butterfly.getAxis(), butterfly.getDistance()).warps == 0;
    return isInWarp ? layout : LayoutAttr();
  }
  LayoutAttr getOperandLayout(Operation *op, LayoutAttr result) const { return ifInWarp(op, result); }
  LayoutAttr getResultLayout(Operation *op, LayoutAttr operand) const { return ifInWarp(op, operand); }
  std::optional<TensorPart> getOperandPart(Operation *op, TensorPart part) const {
    return part.dim == cast<ButterflyOp>(op).getAxis() ? std::nullopt : std::optional(part);
  }
};

template <typename Op> struct ShapeLayout : LayoutInterface::ExternalModel<ShapeLayout<Op>, Op> {
  LayoutAttr getOperandLayout(Operation *op, LayoutAttr result) const {
    auto change = cast<ShapeChange>(op);
    LinearLayout layout = getSourceCoordinates(change, result.getLayout());
    // Merges registers that hold the same element of the operand.
    std::optional<SourceDims> dims = change.getSourceDims();
    if (dims && llvm::is_contained(*dims, std::nullopt))
      layout = layout::dropDuplicateRegisters(layout);
    return LayoutAttr::get(op->getContext(), layout);
  }
  LayoutAttr getResultLayout(Operation *op, LayoutAttr operand) const {
    std::optional<SourceDims> dims = cast<ShapeChange>(op).getSourceDims();
    if (!dims)
      return LayoutAttr::get(op->getContext(), layout::reshape(operand.getLayout(), shapeOf(op->getResult(0))));
    std::vector<unsigned> order;
    for (std::optional<unsigned> dim : *dims) {
      if (!dim)
        return {};
      order.push_back(*dim);
    }
    return LayoutAttr::get(op->getContext(), layout::permuteDims(operand.getLayout(), order));
  }
  std::optional<TensorPart> getOperandPart(Operation *op, TensorPart part) const {
    if (!part.dim)
      return part;
    std::optional<SourceDims> dims = cast<ShapeChange>(op).getSourceDims();
    if (!dims)
      return std::nullopt;
    part.dim = (*dims)[*part.dim];
    return part;
  }
};

/// Reductions. The results lack the reduced axis, so the result layout does not determine the operand layout: the axis
/// may be distributed over threads in any way. If the combination is not commutative, the layout must hold the axis in
/// order.
struct ReduceLayout : LayoutInterface::ExternalModel<ReduceLayout, ReduceOp> {
  LayoutAttr getOperandLayout(Operation *, LayoutAttr) const { return {}; }
  LayoutAttr getResultLayout(Operation *op, LayoutAttr operand) const {
    auto reduce = cast<ReduceOp>(op);
    if (!layout::isInOrder(operand.getLayout(), reduce.getAxis()) &&
        !isCommutative(reduce.getCombine().front(), /*isExact=*/false))
      return {};
    return LayoutAttr::get(op->getContext(), layout::removeDim(operand.getLayout(), reduce.getAxis()));
  }
  std::optional<TensorPart> getOperandPart(Operation *, TensorPart) const { return std::nullopt; }
};

template <typename... Ops> void attachToElementwise(MLIRContext *context) {
  auto attach = [&]<typename Op>() {
    if constexpr (Op::template hasTrait<OpTrait::Elementwise>() && !std::is_same_v<Op, InlineAsmOp>)
      Op::template attachInterface<ElementwiseLayout<Op>>(*context);
  };
  (attach.template operator()<Ops>(), ...);
}

} // namespace

void CtaDialect::attachLayouts() {
  MLIRContext *context = getContext();
  attachToElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
      >(context);
  attachToElementwise<
#define GET_OP_LIST
#include "mlir/Dialect/Math/IR/MathOps.cpp.inc"
      >(context);
  attachToElementwise<
#define GET_OP_LIST
#include "Tile/TileOps.cpp.inc"
      >(context);
  AddPtrOp::attachInterface<ElementwiseLayout<AddPtrOp>>(*context);
  CopyRegistersOp::attachInterface<ElementwiseLayout<CopyRegistersOp>>(*context);
  InlineAsmOp::attachInterface<InlineAsmLayout>(*context);
  arith::ConstantOp::attachInterface<ConstantLayout>(*context);
  ArangeOp::attachInterface<ArangeLayout>(*context);
  SplatOp::attachInterface<SplatLayout>(*context);
  ReshapeOp::attachInterface<ShapeLayout<ReshapeOp>>(*context);
  BroadcastOp::attachInterface<ShapeLayout<BroadcastOp>>(*context);
  ExpandDimsOp::attachInterface<ShapeLayout<ExpandDimsOp>>(*context);
  TransOp::attachInterface<ShapeLayout<TransOp>>(*context);
  ButterflyOp::attachInterface<ButterflyLayout>(*context);
  ReduceOp::attachInterface<ReduceLayout>(*context);
}
