// Recognises programs with one main loop.
#include "Analysis/GemmPrograms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

std::optional<GemmPrograms> tile::findGemmPrograms(KernelOp kernel) {
  GemmPrograms plan;
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>()) {
    auto size = loop.getStep().getDefiningOp<NumProgramsOp>();
    auto id = loop.getLowerBound().getDefiningOp<ProgramIdOp>();
    if (size && id && size.getAxis() == 0 && id.getAxis() == 0 && loop.getNumResults() == 0)
      plan.programs = loop;
  }
  if (!plan.programs)
    return std::nullopt;
  for (Operation &op : plan.programs.getBody()->without_terminator()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop && !plan.steps && !isMemoryEffectFree(&op) && !isa<LoadOp, cta::AllocOp, cta::MbarrierAllocOp>(op))
      return std::nullopt; // would happen for each part of a program
    if (!loop || plan.steps)
      continue;
    plan.steps = loop;
  }
  scf::ForOp steps = plan.steps;
  if (!steps || steps.getNumResults() != 1)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(steps.getResult(0).getType());
  Value init = steps.getInitArgs().front();
  if (!type || !(type.getElementType().isF32() || type.getElementType().isInteger(32)) ||
      !(matchPattern(init, m_AnyZeroFloat()) || matchPattern(init, m_Zero())))
    return std::nullopt;
  BlockArgument acc = steps.getRegionIterArg(0);
  auto wgmma = acc.hasOneUse() ? dyn_cast<cta::WgmmaOp>(*acc.user_begin()) : cta::WgmmaOp();
  if (!wgmma || !wgmma.getBufferA() || wgmma.getAcc() != acc || !wgmma->hasOneUse())
    return std::nullopt;
  auto wait = dyn_cast<cta::WgmmaWaitOp>(*wgmma->user_begin());
  if (!wait || steps.getYieldedValues().front() != wait.getResult() || !wait->hasOneUse())
    return std::nullopt;
  return plan;
}

bool tile::isPersistent(KernelOp kernel) {
  for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
    if (kernel.getArgAttr(index, KernelOp::getGridSizeAttrName()))
      return true;
  return false;
}

Value tile::hoistOutOf(Operation *outer, Value value, RewriterBase &rewriter) {
  if (!outer->isAncestor(value.getParentBlock()->getParentOp()))
    return value;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
    return {};
  // Under a condition the operation may be one that must not happen otherwise.
  for (Operation *parent = op->getParentOp(); parent != outer; parent = parent->getParentOp())
    if (!isa<scf::ForOp>(parent))
      return {};
  IRMapping mapping;
  for (Value operand : op->getOperands()) {
    Value outside = hoistOutOf(outer, operand, rewriter);
    if (!outside)
      return {};
    mapping.map(operand, outside);
  }
  return rewriter.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}
