// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds buffers that a `#: expect` line checks but that the kernel never writes. Such a check compares what was in the
// buffer before the launch, so for the role inout it can pass without a result of the kernel.
#include "Analysis/Flow/CarriedValue.h"
#include "Directives/ExpressionTree.h"
#include "Lint/Lint.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile::frontend;

namespace tile::lint {
namespace {

/// Returns true if the operation may write memory that its operand points to.
bool mayWrite(OpOperand &pointer) {
  Operation *op = pointer.getOwner();
  if (auto store = dyn_cast<StoreOp>(op))
    return pointer.get() == store.getPtr();
  if (auto effects = dyn_cast<MemoryEffectOpInterface>(op))
    return effects.hasEffect<MemoryEffects::Write>();
  return !isMemoryEffectFree(op) && !CarriedValue::fedBy(pointer);
}

/// Returns true if the kernel may write to an address that is computed from the parameter. Addresses in memory that
/// the parameter points to count, too.
bool isWritten(BlockArgument parameter) {
  llvm::SetVector<Value> reached;
  reached.insert(parameter);
  for (size_t next = 0; next < reached.size(); ++next)
    for (OpOperand &use : reached[next].getUses()) {
      if (mayWrite(use))
        return true;
      if (std::optional<CarriedValue> carried = CarriedValue::fedBy(use))
        reached.insert(carried->values.begin(), carried->values.end());
      for (Value result : use.getOwner()->getResults())
        if (!isa<LoadOp, DescLoadOp>(use.getOwner()) || isa<PtrType>(getElementTypeOrSelf(result.getType())))
          reached.insert(result);
    }
  return false;
}

/// Returns true if the kernel computes pointers from integers, such as addresses in memory, which may point anywhere.
bool makesPointers(KernelOp kernel) {
  return kernel
      ->walk([](AddressCastOp cast) {
        bool isMade = isa<PtrType>(getElementTypeOrSelf(cast.getType())) &&
                      !isa<PtrType>(getElementTypeOrSelf(cast->getOperand(0).getType()));
        return isMade ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns true if the expression mentions a constexpr parameter of the kernel. Such an expectation may be that the
/// buffer is unchanged for this value of the constant.
bool dependsOnConstants(const directives::ExpressionTree &tree, DictionaryAttr constants) {
  return (tree.isName() && constants.contains(tree.text)) ||
         llvm::any_of(tree.operands, [&](const auto &operand) { return dependsOnConstants(operand, constants); });
}

} // namespace

void findUnwrittenOutputs(const Subject &subject) {
  KernelOp kernel = subject.kernel;
  LaunchAttr launch = kernel.getLaunchAttr();
  if (!launch || makesPointers(kernel))
    return;
  DictionaryAttr constants = kernel.getConstantsAttr();
  if (!constants)
    constants = DictionaryAttr::get(kernel.getContext());
  for (ExpectAttr expect : launch.getExpect())
    for (BlockArgument parameter : kernel.getBody().getArguments()) {
      auto name = kernel.getArgAttrOfType<StringAttr>(parameter.getArgNumber(), argNameAttrName);
      if (name && name.getValue() == expect.getBuffer() && !isWritten(parameter) &&
          !dependsOnConstants(directives::parseExpression(expect.getExpression().getValue()).tree, constants))
        subject.diagnostics.report(Diag::unwritten_output, subject.declarationOf(parameter).first, {name.str()});
    }
}

} // namespace tile::lint
