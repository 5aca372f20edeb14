// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of an iteration comes before its loads; see IssueOrder.h.
#include "Transforms/Cta/IssueOrder.h"

#include "Cta/CtaDialect.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

/// Whether `isOne` holds for an operation of the body that makes an operand, also of what is inside.
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
  DenseSet<Operation *> late = loads, after; // what needs loaded numbers, and what needs the product
  SmallVector<Operation *> others;           // behind the product that need neither
  auto needs = [&](Operation &op, const DenseSet<Operation *> &sources) {
    return anySource(loop, op, [&](Operation *source) { return sources.contains(source); });
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    bool isLate = loads.contains(&op) || needs(op, late), isAfter = !after.empty();
    if (isLate)
      late.insert(&op);
    else if (!isAfter)
      order.issue.insert(&op);
    // A copy, too, to a place that was loaded.
    if (isLate && !isAfter && !loads.contains(&op) && !isMemoryEffectFree(&op))
      return {};
    if (isa<cta::WgmmaOp>(op) || needs(op, after))
      after.insert(&op);
    else if (isLate && !loads.contains(&op) && isMemoryEffectFree(&op))
      order.use.insert(&op);
    else if (!isLate && isAfter && isMemoryEffectFree(&op))
      others.push_back(&op);
  }
  // What loaded numbers are combined with comes along, and what would wait for something else stays.
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
