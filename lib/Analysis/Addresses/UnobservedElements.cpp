// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows elements forward. All values that are reached have the same bound, along one or more dimensions of each
// value.
#include "Analysis/Addresses/UnobservedElements.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

namespace {

class ElementFlow {
public:
  ElementFlow(const Polynomial &bound, AffineBlocks &blocks) : bound(bound), blocks(blocks) {}

  bool run(Value value, unsigned dim) {
    reach(value, dim);
    for (size_t next = 0; next < reached.size(); ++next) {
      auto [source, along] = reached[next];
      for (OpOperand &use : source.getUses())
        if (!follow(use, along))
          return false;
    }
    return true;
  }

private:
  bool reach(Value value, unsigned dim) {
    reached.insert({value, dim});
    return true;
  }

  /// Returns false if the use of the elements may have an effect that depends on them.
  bool follow(OpOperand &use, unsigned dim) {
    Operation *op = use.getOwner();
    return llvm::TypeSwitch<Operation *, bool>(op)
        .Case([&](StoreOp store) { return use.get() != store.getPtr() && isMaskedOut(store, use, dim); })
        .Case([&](DotOp dot) { return followDot(dot, use.getOperandNumber(), dim); })
        .Case([&](ShapeChange change) {
          std::optional<unsigned> to = change.getResultDim(dim);
          return to && reach(op->getResult(0), *to);
        })
        .Case([&](scf::ForOp loop) {
          return reach(loop.getTiedLoopRegionIterArg(&use), dim) && reach(loop.getTiedLoopResult(&use), dim);
        })
        .Case([&](scf::YieldOp yield) { return followYield(yield, use.getOperandNumber(), dim); })
        .Default([&](Operation *) {
          return OpTrait::hasElementwiseMappableTraits(op) && isPure(op) &&
                 llvm::all_of(op->getResults(), [&](Value result) { return reach(result, dim); });
        });
  }

  bool isMaskedOut(StoreOp store, OpOperand &use, unsigned dim) {
    if (use.get() == store.getMask() || !store.getMask())
      return false;
    return llvm::any_of(blocks.getConditions(store.getMask()), [&](const Condition &condition) {
      return condition.isBoundary() && *condition.dim == dim && *condition.bound == bound;
    });
  }

  /// Follows elements through a dot. A row of `a` affects only a row of the result, and a column of `b` only a column;
  /// elements along k affect all elements.
  bool followDot(DotOp dot, unsigned operand, unsigned dim) {
    bool stays = (operand == 0 && dim == 0) || (operand == 1 && dim == 1) || operand == 2;
    return stays && reach(dot, dim);
  }

  bool followYield(scf::YieldOp yield, unsigned index, unsigned dim) {
    Operation *parent = yield->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      // The elements of the next iteration are the same ones only if the bound does not change.
      if (!bound.all([&](Value factor) { return loop.isDefinedOutsideOfLoop(factor); }))
        return false;
      reach(loop.getRegionIterArg(index), dim);
    }
    return isa<scf::ForOp, scf::IfOp>(parent) && reach(parent->getResult(index), dim);
  }

  Polynomial bound;
  AffineBlocks &blocks;
  llvm::SmallSetVector<std::pair<Value, unsigned>, 16> reached;
};

} // namespace

bool tile::isUnobservedOutside(Value value, const Condition &inside, AffineBlocks &blocks) {
  assert(inside.isBoundary() && "elements are separated by a boundary");
  return ElementFlow(*inside.bound, blocks).run(value, *inside.dim);
}
