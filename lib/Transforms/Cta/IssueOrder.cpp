// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements IssueOrder.h: determines which operations of an iteration precede its loads.
#include "Transforms/Cta/IssueOrder.h"

#include "Cta/CtaDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

/// Returns true if `isOne` holds for an operation of the body that produces an operand of `op` or of an operation
/// nested in `op`.
static bool anySource(scf::ForOp loop, Operation &op, llvm::function_ref<bool(Operation *)> isOne) {
  return op
      .walk([&](Operation *inner) {
        return llvm::any_of(inner->getOperands(),
                            [&](Value operand) {
                              Operation *source = operand.getDefiningOp();
                              source = source ? loop.getBody()->findAncestorOpInBlock(*source) : nullptr;
                              return source && source != &op && isOne(source);
                            })
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

IssueOrder tile::planIssue(scf::ForOp loop, const DenseSet<Operation *> &loads) {
  IssueOrder order;
  if (loop.getBody()->getOps<cta::WgmmaOp>().empty())
    return order;
  DenseSet<Operation *> late = loads, after; // users of loaded values, and users of the MMA
  SmallVector<Operation *> others;           // operations after the MMA that use neither
  auto needs = [&](Operation &op, const DenseSet<Operation *> &sources) {
    return anySource(loop, op, [&](Operation *source) { return sources.contains(source); });
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isLate = loads.contains(&op) || needs(op, late), isAfter = !after.empty();
    if (isLate)
      late.insert(&op);
    else if (!isAfter)
      order.issue.insert(&op);
    // No copy may depend on a load, for example through a loaded offset: the copy would have to wait for the load.
    if (isLate && !isAfter && !loads.contains(&op) && !isMemoryEffectFree(&op))
      return {};
    if (isa<cta::WgmmaOp>(op) || needs(op, after))
      after.insert(&op);
    else if (isLate && !loads.contains(&op) && isMemoryEffectFree(&op))
      order.use.insert(&op);
    else if (!isLate && isAfter && isMemoryEffectFree(&op))
      others.push_back(&op);
  }
  // Values that are combined with loaded values are moved as well. Operations that would wait for something else stay.
  for (Operation *op : llvm::reverse(others))
    if (llvm::any_of(op->getUsers(),
                     [&](Operation *user) { return order.use.contains(loop.getBody()->findAncestorOpInBlock(*user)); }))
      order.use.insert(op);
  for (Operation &op : loop.getBody()->without_terminator())
    if (order.use.contains(&op) && anySource(loop, op, [&](Operation *source) {
          return !order.issue.contains(source) && !order.use.contains(source) && !loads.contains(source);
        }))
      order.use.erase(&op);
  return order;
}
