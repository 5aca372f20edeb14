// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection and splitting of mma.sync dots into K steps.
#include "Transforms/Cta/MmaSteps.h"

#include "Cta/CtaDialect.h"
#include "Layout/ShapeTransforms.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tile;

namespace {

/// The source of one operand of the dot, and the slice of it that a step uses.
struct OperandPlan {
  cta::LocalLoadOp load;
  unsigned axis = 0; ///< The dimension of k.
  RankedTensorType step;
};

struct SplitPlan {
  cta::MmaSyncOp dot;
  OperandPlan a, b;
  int64_t steps = 1;
};

std::optional<OperandPlan> planOperand(cta::MmaSyncOp dot, Value operand, unsigned axis) {
  auto load = operand.getDefiningOp<cta::LocalLoadOp>();
  if (!load || !load->hasOneUse() || load.getStart() || load->getBlock() != dot->getBlock())
    return std::nullopt;
  // The load will sink to the dot, so no operation after it may write to its buffer.
  for (Operation *user : load.getBuffer().getUsers())
    if (!isa<cta::LocalLoadOp>(user) && (user->getBlock() != load->getBlock() || load->isBeforeInBlock(user)))
      return std::nullopt;
  RankedTensorType type = load.getType();
  // If the size of a buffer is not a power of two, only a load of the whole buffer adds the padding.
  if (type.getShape() != load.getBuffer().getType().getShape())
    return std::nullopt;
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = dot.getShape()[2];
  std::optional<layout::LinearLayout> part = layout::firstPart(cta::getLayout(type), axis, shape[axis]);
  if (!part)
    return std::nullopt;
  auto layout = cta::LayoutAttr::get(type.getContext(), *part);
  return OperandPlan{load, axis, RankedTensorType::get(shape, type.getElementType(), layout)};
}

std::optional<SplitPlan> planSplit(cta::MmaSyncOp dot) {
  int64_t steps = dot.getA().getType().getDimSize(1) / dot.getShape()[2];
  std::optional<OperandPlan> a = planOperand(dot, dot.getA(), 1), b = planOperand(dot, dot.getB(), 0);
  if (steps < 2 || !a || !b || dot.getAScale())
    return std::nullopt;
  return SplitPlan{dot, *a, *b, steps};
}

void split(const SplitPlan &plan) {
  cta::MmaSyncOp dot = plan.dot;
  OpBuilder builder(dot);
  auto load = [&](const OperandPlan &operand, int64_t step) -> Value {
    SmallVector<int32_t> start(operand.step.getRank(), 0);
    start[operand.axis] = int32_t(step * operand.step.getDimSize(operand.axis));
    cta::LocalLoadOp whole = operand.load;
    return cta::LocalLoadOp::create(builder, whole.getLoc(), operand.step, whole.getBuffer(),
                                    builder.getDenseI32ArrayAttr(start));
  };
  Value acc = dot.getAcc(), a = load(plan.a, 0), b = load(plan.b, 0);
  for (int64_t step = 1; step <= plan.steps; ++step) {
    Value nextA = step < plan.steps ? load(plan.a, step) : Value();
    Value nextB = step < plan.steps ? load(plan.b, step) : Value();
    acc = cta::MmaSyncOp::create(builder, dot.getLoc(), acc.getType(), a, b, acc, /*aScale=*/Value(),
                                 /*bScale=*/Value(), dot.getShapeAttr());
    a = nextA;
    b = nextB;
  }
  dot.replaceAllUsesWith(acc);
  dot->erase();
  plan.a.load->erase();
  plan.b.load->erase();
}

} // namespace

void tile::splitIntoSteps(KernelOp kernel) {
  SmallVector<SplitPlan> plans;
  kernel.walk([&](cta::MmaSyncOp dot) {
    if (std::optional<SplitPlan> plan = planSplit(dot))
      plans.push_back(*plan);
  });
  llvm::for_each(plans, split);
}
