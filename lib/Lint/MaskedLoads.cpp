// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds masked loads without 'other' whose masked-out elements matter.
//
//   v = tl.load(p, mask=m);  tl.store(q, v * 2, mask=m)    no warning: the elements are not stored
//   v = tl.load(p, mask=m);  tl.max(v, axis=0)             warns: the maximum includes undefined elements
//
// Elements are tracked through element-wise operations, shape changes, loops and branches. tl.where ends the tracking,
// because the program handles the elements there.
#include "Analysis/Flow/CarriedValue.h"
#include "Lint/Lint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile::frontend;

namespace tile::lint {
namespace {

/// Returns the effect that the elements of a value have in this use, for the message; empty if they have no effect.
std::string effectOf(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<DotOp, DotScaledOp>(op))
    return use.getOperandNumber() == 2 ? "" : "this dot";
  if (isa<ReduceOp>(op))
    return "this reduction";
  if (isa<AddPtrOp>(op))
    return use.getOperandNumber() == 1 ? "this address" : "";
  if (auto store = dyn_cast<StoreOp>(op))
    return use.get() == store.getValue() && !store.getMask() ? "this unmasked store" : "";
  if (isa<DescStoreOp>(op))
    return "this store";
  if (isa<scf::IfOp, scf::ForOp, scf::ConditionOp>(op))
    return use.get().getType().isIntOrIndex() && use.getOperandNumber() < (isa<scf::ForOp>(op) ? 3u : 1u)
               ? "this condition"
               : "";
  return "";
}

/// Adds values with the same elements, or with elements that are computed element-wise from them.
void follow(OpOperand &use, llvm::SetVector<Value> &reached) {
  Operation *op = use.getOwner();
  if (std::optional<CarriedValue> carried = CarriedValue::fedBy(use)) {
    reached.insert(carried->values.begin(), carried->values.end());
  } else if (isa<ShapeChange>(op) || (OpTrait::hasElementwiseMappableTraits(op) && !isa<arith::SelectOp>(op))) {
    reached.insert(op->result_begin(), op->result_end());
  } else if (isa<DotOp, DotScaledOp>(op) && use.getOperandNumber() == 2) {
    reached.insert(op->getResult(0));
  }
}

} // namespace

void findMaskedLoads(const Subject &subject) {
  subject.kernel->walk([&](LoadOp load) {
    if (!load.getMask() || load.getOther())
      return;
    llvm::SetVector<Value> reached;
    reached.insert(load.getResult());
    for (size_t next = 0; next < reached.size(); ++next)
      for (OpOperand &use : reached[next].getUses()) {
        follow(use, reached);
        std::string effect = effectOf(use);
        if (effect.empty())
          continue;
        SourceRange call = subject.sourceOf(load).range;
        // For block pointers, the boundary check is the mask.
        bool isBlock = subject.diagnostics.text(call).find("boundary_check") != std::string_view::npos;
        auto builder = subject.report(Diag::masked_load, load, {effect, isBlock ? "padding_option" : "other"});
        builder.note(subject.sourceOf(use.getOwner()).range, "used here");
        if (subject.sources.contains(load))
          builder.fixItArgument(call, isBlock ? "padding_option=\"zero\"" : "other=0");
        return;
      }
  });
}

} // namespace tile::lint
