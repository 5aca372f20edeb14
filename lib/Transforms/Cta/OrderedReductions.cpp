// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order-preserving reductions; see AccessPlan.h.
#include "Transforms/Cta/AccessPlan.h"

#include "Cta/CtaDialect.h"
#include "Layout/AxisOrder.h"
#include "Layout/ShapeTransforms.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using tile::layout::LinearLayout;

namespace tile {

/// Reduces each run of the axis, then the results of the runs. `split` has one dimension for runs and one for elements.
static void reduceRuns(ReduceOp reduce, const LinearLayout &split, OpBuilder &builder) {
  unsigned axis = reduce.getAxis();
  auto typeIn = [&](const LinearLayout &layout, Value like) {
    return RankedTensorType::get(layout.outShape(), getElementTypeOf(like.getType()),
                                 cta::LayoutAttr::get(like.getContext(), layout));
  };
  builder.setInsertionPoint(reduce);
  SmallVector<Value> parts;
  SmallVector<Type> types;
  for (Value source : reduce.getSrcs()) {
    parts.push_back(ReshapeOp::create(builder, reduce.getLoc(), typeIn(split, source), source));
    types.push_back(typeIn(layout::removeDim(split, axis + 1), source));
  }
  auto ofRuns = ReduceOp::create(builder, reduce.getLoc(), types, parts, axis + 1);
  IRMapping mapping;
  reduce.getCombine().cloneInto(&ofRuns.getCombine(), mapping);
  reduce.getSrcsMutable().assign(ofRuns.getResults());
}

void keepOrder(ReduceOp reduce, OpBuilder &builder) {
  auto source = cast<RankedTensorType>(reduce.getSrcs().front().getType());
  cta::LayoutAttr layout = cta::getLayoutAttr(source);
  if (cast<cta::LayoutInterface>(*reduce).getResultLayout(layout))
    return;
  if (std::optional<LinearLayout> split = layout::splitIntoRuns(layout.getLayout(), reduce.getAxis()))
    return reduceRuns(reduce, *split, builder);
  auto kernel = reduce->getParentOfType<KernelOp>();
  auto ordered = cta::LayoutAttr::get(reduce.getContext(), planScan(source, reduce.getAxis(), kernel));
  builder.setInsertionPoint(reduce);
  for (OpOperand &operand : reduce->getOpOperands()) {
    auto type = cta::withLayout(cast<RankedTensorType>(operand.get().getType()), ordered);
    operand.set(cta::ConvertLayoutOp::create(builder, reduce.getLoc(), type, operand.get()));
  }
}

} // namespace tile
