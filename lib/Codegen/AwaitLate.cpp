// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves the uses of loads after the loads of the next block.
//
//   %label = load …                          br %fits, %then, %else
//   %right = load x[%label]            then:
//   br %fits, %then, %else       ==>         %row = load …
// then:                                      %label = load …
//   %row = load …                            %right = load x[%label]
//   …                                        …
//
// A thread stalls at the first instruction that uses a pending load. Within a block, ptxas issues independent loads
// first, but it does not move them across a branch: a cross-entropy kernel, for example, loads a label and the logit at
// that index, and issued the loads of the row a microsecond later. The load of the label is moved as well, because
// ptxas copies warp-uniform values to a uniform register right after the load, and the copy stalls.
#include "Codegen/AwaitLate.h"
#include "Codegen/MemoryUse.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;

namespace tile::codegen {
namespace {

/// Returns true if the instruction must not move, because it accesses memory other than by a global load or
/// synchronizes threads.
bool hasEffects(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  return !isGlobalLoad(instruction) && (instruction.mayHaveSideEffects() || (call && call->isConvergent()));
}

/// Returns true if the instruction extracts one of the registers that a load writes.
bool extractsLoad(const Instruction &instruction) {
  auto *taken = dyn_cast<ExtractValueInst>(&instruction);
  auto *source = taken ? dyn_cast<Instruction>(taken->getAggregateOperand()) : nullptr;
  return source && isGlobalLoad(*source);
}

class LateUses {
public:
  explicit LateUses(BasicBlock &block) : block(block) {}

  void run() {
    auto *branch = dyn_cast<BranchInst>(block.getTerminator());
    if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1) || !collect())
      return;
    SmallVector<Instruction *> insertionPoints;
    bool gains = false;
    for (BasicBlock *next : branch->successors()) {
      if (next->getSinglePredecessor() != &block || isa<PHINode>(next->front()))
        return;
      auto [place, isAfterLoad] = findPlace(*next);
      insertionPoints.push_back(place);
      gains |= isAfterLoad;
    }
    if (gains)
      move(insertionPoints);
  }

private:
  /// Collects the loads and the instructions that depend on them, except the instructions on which the branch depends.
  /// Returns false if no instruction depends on a load.
  bool collect() {
    SetVector<Instruction *> dependents;
    bool hasDependent = false;
    for (Instruction &instruction : block) {
      bool depends = any_of(instruction.operands(), [&](Value *operand) {
        auto *definition = dyn_cast<Instruction>(operand);
        return definition && dependents.contains(definition);
      });
      if (hasEffects(instruction) && !dependents.empty())
        return false; // loads must not move across side effects
      if (depends || isGlobalLoad(instruction))
        dependents.insert(&instruction);
      hasDependent |= depends && !extractsLoad(instruction);
    }
    DenseSet<Instruction *> needed{block.getTerminator()};
    for (Instruction &instruction : reverse(block))
      if (needed.contains(&instruction))
        for (Value *operand : instruction.operands())
          if (auto *definition = dyn_cast<Instruction>(operand))
            needed.insert(definition);
    for (Instruction *instruction : dependents)
      if (!needed.contains(instruction))
        moved.insert(instruction);
    return hasDependent && !moved.empty();
  }

  /// Returns the insertion point after the first loads of `next`, and whether there are any such loads.
  std::pair<Instruction *, bool> findPlace(BasicBlock &next) {
    Instruction *place = &*next.getFirstNonPHIIt();
    bool isAfterLoad = false;
    for (Instruction &instruction : next) {
      bool usesMoved = any_of(instruction.operands(), [&](Value *operand) {
        auto *definition = dyn_cast<Instruction>(operand);
        return definition && moved.contains(definition);
      });
      if (usesMoved || instruction.isTerminator() || hasEffects(instruction))
        break;
      if (!isGlobalLoad(instruction))
        continue;
      place = instruction.getNextNode();
      isAfterLoad = true;
    }
    return {place, isAfterLoad};
  }

  void move(ArrayRef<Instruction *> insertionPoints) {
    SmallVector<DenseMap<Value *, Instruction *>> copies(insertionPoints.size());
    for (auto [place, copiesHere] : zip(insertionPoints, copies))
      for (Instruction *instruction : moved) {
        Instruction *copy = instruction->clone();
        for (Use &operand : copy->operands())
          if (Instruction *known = copiesHere.lookup(operand.get()))
            operand.set(known);
        copy->insertBefore(place->getIterator());
        copiesHere[instruction] = copy;
      }
    for (Instruction *instruction : reverse(moved)) {
      if (!instruction->getType()->isVoidTy())
        replace(*instruction, insertionPoints, copies);
      instruction->eraseFromParent();
    }
  }

  void replace(Instruction &instruction, ArrayRef<Instruction *> insertionPoints,
               ArrayRef<DenseMap<Value *, Instruction *>> copies) {
    SSAUpdater updater;
    updater.Initialize(instruction.getType(), "");
    for (auto [place, copiesHere] : zip(insertionPoints, copies))
      updater.AddAvailableValue(place->getParent(), copiesHere.lookup(&instruction));
    for (Use &use : make_early_inc_range(instruction.uses())) {
      auto *user = cast<Instruction>(use.getUser());
      bool isHere = false;
      for (auto [place, copiesHere] : zip(insertionPoints, copies))
        if (!isa<PHINode>(user) && user->getParent() == place->getParent()) {
          use.set(copiesHere.lookup(&instruction));
          isHere = true;
        }
      if (!isHere)
        updater.RewriteUse(use);
    }
  }

  BasicBlock &block;
  SetVector<Instruction *> moved;
};

} // namespace

void awaitLate(Function &function) {
  if (function.isDeclaration() || multiplies(function))
    return;
  for (BasicBlock &block : function)
    LateUses(block).run();
}

} // namespace tile::codegen
