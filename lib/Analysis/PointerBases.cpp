// Which parameters a pointer may point into: what it is computed from, followed back through loops and branches.
#include "Analysis/PointerBases.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

namespace {

/// What a value of a loop or branch may be, where the value enters it or leaves it; empty if that is not known.
SmallVector<Value> getSources(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    unsigned index = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && index > 0)
      return {loop.getInitArgs()[index - 1], loop.getYieldedValues()[index - 1]};
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getAfterBody())
        return {loop.getConditionOp().getArgs()[index]};
      return {loop.getInits()[index], loop.getYieldOp().getOperand(index)};
    }
    return {};
  }
  auto result = cast<OpResult>(value);
  unsigned index = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
    return {loop.getInitArgs()[index], loop.getYieldedValues()[index]};
  if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner()))
    return {loop.getConditionOp().getArgs()[index]};
  if (auto branch = dyn_cast<scf::IfOp>(result.getOwner()))
    return {branch.thenYield().getOperand(index), branch.elseYield().getOperand(index)};
  SmallVector<Value> pointers;
  for (Value operand : result.getOwner()->getOperands())
    if (isa<PtrType>(getElementTypeOrSelf(operand.getType())))
      pointers.push_back(operand);
  return pointers;
}

} // namespace

PointerBases PointerBases::of(Value pointer) {
  PointerBases bases;
  llvm::SetVector<Value> values;
  values.insert(pointer);
  for (size_t next = 0; next < values.size(); ++next) {
    Value value = values[next];
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && isa<KernelOp>(argument.getOwner()->getParentOp())) {
      bases.parameters.push_back(value);
      continue;
    }
    SmallVector<Value> sources = getSources(value);
    bases.isAnything |= sources.empty();
    values.insert_range(sources);
  }
  return bases;
}

bool PointerBases::mayOverlap(const PointerBases &other) const {
  if (isAnything || other.isAnything)
    return (isAnything || !parameters.empty()) && (other.isAnything || !other.parameters.empty());
  return llvm::any_of(parameters, [&](Value parameter) { return llvm::is_contained(other.parameters, parameter); });
}

bool PointerBases::join(const PointerBases &other) {
  bool isNew = other.isAnything && !isAnything;
  isAnything |= other.isAnything;
  for (Value parameter : other.parameters)
    if (!llvm::is_contained(parameters, parameter)) {
      parameters.push_back(parameter);
      isNew = true;
    }
  return isNew;
}
