// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An accumulator stays in its registers if the wgmma adds to the value that the result replaces, and if the accumulator
// is not swapped with another one.
#include "Transforms/Cta/MovedAccumulators.h"

#include "Analysis/Flow/CarriedValue.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace tile;

/// Returns the accumulator that the awaited wgmma adds to; null for a wgmma of an earlier iteration, whose registers
/// are not assigned yet.
static Value getAddend(cta::AwaitOp await) {
  auto mma = await.getAcc().getDefiningOp<cta::WgmmaOp>();
  return mma ? mma.getAcc() : Value();
}

namespace {

/// Returns true if the wgmma adds to `carried`, or to a value that is computed from it and replaces it.
bool isAddedTo(const CarriedValue &carried, Value acc) {
  return llvm::any_of(carried.values, [&](Value value) {
    Operation *computed = acc.getDefiningOp();
    return value == acc ||
           (computed && computed->getNumRegions() == 0 && value.hasOneUse() && *value.user_begin() == computed);
  });
}

/// Returns true if loops around the wgmma pass on its result only in place of its accumulator. `value` is the wgmma's
/// result, or the result of a branch that yields it.
bool staysInPlace(Value value, cta::AwaitOp await, Value acc) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    std::optional<CarriedValue> carried = CarriedValue::fedBy(use);
    if (!carried || isAddedTo(*carried, acc))
      return true;
    Value first = carried->values.front();
    Block *block = first.getParentBlock();
    auto loop = dyn_cast<scf::WhileOp>(block->getParentOp());
    bool isBranch = first.getDefiningOp<scf::IfOp>() != nullptr;
    bool isCondition = !first.getDefiningOp() && loop && block == loop.getBeforeBody();
    if (isBranch || isCondition)
      return staysInPlace(first, await, acc);
    Operation *control = first.getDefiningOp() ? first.getDefiningOp() : block->getParentOp();
    return !control->isProperAncestor(await);
  });
}

/// Accumulators that loops and branches exchange: the operation passes on both values at the same time, although one
/// may become the other.
class ExchangedAccumulators {
public:
  explicit ExchangedAccumulators(KernelOp kernel) {
    SmallVector<SmallVector<Value>> sideBySide; // the first value of each of the operation's carried values
    kernel.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op))
        sideBySide.push_back(join(loop.getRegionIterArgs()));
      else if (auto branch = dyn_cast<scf::IfOp>(op))
        sideBySide.push_back(join(branch.getResults()));
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        sideBySide.append({join(loop.getBeforeArguments()), join(loop.getAfterArguments())});
      else if (auto await = dyn_cast<cta::AwaitOp>(op))
        joinMma(await);
    });
    for (ArrayRef<Value> values : sideBySide) {
      DenseSet<const void *> seen;
      for (Value value : values)
        if (!seen.insert(leaderOf(value)).second)
          exchanged.insert(leaderOf(value));
    }
  }

  bool contains(Value value) { return exchanged.contains(leaderOf(value)); }

private:
  const void *leaderOf(Value value) { return classes.getOrInsertLeaderValue(value.getAsOpaquePointer()); }

  /// Merges the sets of two tensors, unless `b` is a constant: a constant occupies no registers, and several
  /// accumulators may start from it.
  void join(Value a, Value b) {
    if (isa<RankedTensorType>(a.getType()) && a.getType() == b.getType() && !matchPattern(b, m_Constant()))
      classes.unionSets(a.getAsOpaquePointer(), b.getAsOpaquePointer());
  }

  SmallVector<Value> join(ValueRange passedOn) {
    SmallVector<Value> tensors;
    for (Value value : passedOn) {
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      CarriedValue carried = *CarriedValue::of(value);
      for (Value other : carried.values)
        join(value, other);
      for (OpOperand *operand : carried.operands)
        join(value, operand->get());
      tensors.push_back(value);
    }
    return tensors;
  }

  /// Merges the wgmma with its accumulator, and with the inputs of that accumulator.
  void joinMma(cta::AwaitOp await) {
    Value acc = getAddend(await);
    if (!acc)
      return;
    join(await, acc);
    if (Operation *op = acc.getDefiningOp(); op && op->getNumRegions() == 0)
      for (Value operand : op->getOperands())
        join(acc, operand);
  }

  llvm::EquivalenceClasses<const void *> classes;
  DenseSet<const void *> exchanged; ///< Representatives of the merged sets.
};

} // namespace

SmallVector<cta::AwaitOp> tile::findMovedAccumulators(KernelOp kernel) {
  ExchangedAccumulators exchanged(kernel);
  SmallVector<cta::AwaitOp> moved;
  kernel.walk([&](cta::AwaitOp await) {
    Value acc = getAddend(await);
    if (acc && (exchanged.contains(await) || !staysInPlace(await, await, acc)))
      moved.push_back(await);
  });
  return moved;
}
