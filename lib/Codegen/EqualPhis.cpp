// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initially, all phis of a block that have the same type are assumed to be equal. These classes are then split where
// incoming values differ, until a fixed point is reached.
#include "Codegen/EqualPhis.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace tile::codegen {
namespace {

class PhiClasses {
public:
  explicit PhiClasses(Function &function) {
    for (BasicBlock &block : function)
      for (PHINode &phi : block.phis())
        classes[&phi] = nullptr;
    for (bool isStable = false; !isStable;) {
      DenseMap<PHINode *, PHINode *> next;
      for (BasicBlock &block : function) {
        SmallVector<PHINode *> first; // first phi of each class
        for (PHINode &phi : block.phis()) {
          auto *place = find_if(first, [&](PHINode *other) { return areAlike(phi, *other); });
          next[&phi] = place == first.end() ? &phi : *place;
          if (next[&phi] == &phi)
            first.push_back(&phi);
        }
      }
      isStable = next == classes;
      classes = std::move(next);
    }
  }

  /// Returns the first phi that is equal to this one.
  PHINode *firstOf(PHINode &phi) const { return classes.lookup(&phi); }

private:
  bool areAlike(PHINode &phi, PHINode &other) const {
    return phi.getType() == other.getType() && firstOf(phi) == firstOf(other) &&
           all_of(phi.blocks(), [&](BasicBlock *from) {
             return areEqual(phi.getIncomingValueForBlock(from), other.getIncomingValueForBlock(from), 0);
           });
  }

  bool areEqual(Value *left, Value *right, unsigned depth) const {
    constexpr unsigned maxDepth = 8; // maximum depth of the computation in one iteration of a loop
    if (left == right)
      return true;
    auto *phi = dyn_cast<PHINode>(left), *otherPhi = dyn_cast<PHINode>(right);
    if (phi || otherPhi)
      return phi && otherPhi && phi->getParent() == otherPhi->getParent() && phi->getType() == otherPhi->getType() &&
             firstOf(*phi) == firstOf(*otherPhi);
    auto *made = dyn_cast<Instruction>(left), *other = dyn_cast<Instruction>(right);
    if (!made || !other || depth == maxDepth || !made->isSameOperationAs(other) || isa<AllocaInst>(made) ||
        made->getRawSubclassOptionalData() != other->getRawSubclassOptionalData() || made->mayReadOrWriteMemory() ||
        made->mayHaveSideEffects())
      return false;
    return all_of(zip_equal(made->operand_values(), other->operand_values()),
                  [&](auto operands) { return areEqual(std::get<0>(operands), std::get<1>(operands), depth + 1); });
  }

  DenseMap<PHINode *, PHINode *> classes;
};

} // namespace

PreservedAnalyses MergeEqualPhis::run(Function &function, FunctionAnalysisManager &) {
  bool isChanged = false;
  PhiClasses classes(function);
  for (BasicBlock &block : function)
    for (PHINode &phi : make_early_inc_range(block.phis()))
      if (PHINode *first = classes.firstOf(phi); first != &phi) {
        phi.replaceAllUsesWith(first);
        phi.eraseFromParent();
        isChanged = true;
      }
  return isChanged ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace tile::codegen
