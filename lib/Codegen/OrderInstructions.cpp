// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/OrderInstructions.h"
#include "Codegen/MemoryUse.h"
#include "Codegen/ReadOnlyLoads.h"
#include "Codegen/RegisterBudget.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tile::codegen {
namespace {

using Order = SmallVector<Instruction *>;

/// What must stay where it is among its like: effects, loads, and what threads do together.
bool isFixed(const Instruction &instruction) {
  if (isa<PHINode, AllocaInst>(instruction) || instruction.isTerminator() || instruction.mayReadOrWriteMemory() ||
      instruction.mayHaveSideEffects())
    return true;
  const auto *call = dyn_cast<CallBase>(&instruction);
  return call && call->isConvergent();
}

bool isUsedElsewhere(const Instruction &instruction) {
  return any_of(instruction.users(), [&](const User *user) {
    return isa<PHINode>(user) || cast<Instruction>(user)->getParent() != instruction.getParent();
  });
}

/// Of `loads`, those from which the block needs nothing until its threads have met.
DenseSet<Instruction *> findLateLoads(BasicBlock &block, const DenseSet<const Instruction *> &loads) {
  DenseMap<const Instruction *, unsigned> segments; // between barriers
  unsigned segment = 0;
  for (Instruction &instruction : block) {
    segments[&instruction] = segment;
    segment += isBarrier(instruction);
  }
  auto isUnpacking = [](const User *user) {
    return isa<ExtractValueInst, ExtractElementInst, BitCastInst, FPExtInst>(user);
  };
  DenseSet<Instruction *> late;
  for (Instruction &instruction : block) {
    if (!loads.contains(&instruction))
      continue;
    SmallVector<const User *> users(instruction.users());
    bool isLate = true;
    while (isLate && !users.empty()) {
      const User *user = users.pop_back_val();
      auto place = segments.find(cast<Instruction>(user));
      if (place != segments.end() && isUnpacking(user))
        users.append(user->user_begin(), user->user_end());
      else
        isLate = place != segments.end() && place->second > segments[&instruction];
    }
    if (isLate)
      late.insert(&instruction);
  }
  return late;
}

/// What is fixed in its order, and the rest in front of what needs it: each behind what it is made of that was not
/// needed before. Between which effects it is stays as it is unless it may go `acrossEffects`.
class Ordering {
public:
  Ordering(BasicBlock &block, bool acrossEffects, const DenseSet<Instruction *> &late) : block(block) {
    for (PHINode &phi : block.phis())
      add(phi);
    for (PHINode &phi : block.phis())
      addTaken(phi);
    Order between;
    for (Instruction &instruction : make_range(block.getFirstNonPHIIt(), block.end())) {
      if (!isFixed(instruction) || late.contains(&instruction)) {
        between.push_back(&instruction);
        continue;
      }
      if (!acrossEffects)
        addResults(between);
      if (instruction.isTerminator())
        break;
      add(instruction);
      addTaken(instruction);
      between.clear();
    }
    for (Instruction &instruction : block)
      if (isUsedElsewhere(instruction))
        add(instruction);
    add(*block.getTerminator());
  }

  Order order;

private:
  void add(Instruction &result) {
    // Operands first; an entry is met again when its operands are done.
    Order stack = {&result};
    while (!stack.empty()) {
      Instruction *top = stack.back();
      size_t size = stack.size();
      if (!done.contains(top) && !isa<PHINode>(top))
        for (Value *operand : reverse(top->operand_values()))
          if (auto *needed = dyn_cast<Instruction>(operand);
              needed && needed->getParent() == &block && !done.contains(needed))
            stack.push_back(needed);
      if (stack.size() != size)
        continue;
      stack.pop_back();
      if (done.insert(top).second)
        order.push_back(top);
    }
  }

  void addResults(ArrayRef<Instruction *> between) {
    DenseSet<const Instruction *> inside(between.begin(), between.end());
    for (Instruction *result : between)
      if (none_of(result->users(), [&](const User *user) { return inside.contains(cast<Instruction>(user)); }))
        add(*result);
  }

  /// The registers that a statement fills, or that were filled in another block.
  void addTaken(Instruction &statement) {
    for (User *user : statement.users())
      if (auto *taken = dyn_cast<ExtractValueInst>(user); taken && taken->getParent() == &block)
        add(*taken);
  }

  BasicBlock &block;
  DenseSet<const Instruction *> done;
};

/// Registers of 32 bits; predicates have their own.
unsigned registersOf(const Value &value, const DataLayout &layout) {
  Type *type = value.getType();
  if (!type->isSized() || type->isIntegerTy(1))
    return 0;
  return unsigned(divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32));
}

/// The most registers that the block's values, and those that it uses, take at once, in this order.
unsigned pressure(ArrayRef<Instruction *> order, const DataLayout &layout) {
  DenseSet<const Value *> live;
  unsigned now = 0, most = 0;
  auto begin = [&](const Value *value) {
    if (live.insert(value).second)
      now += registersOf(*value, layout);
  };
  for (Instruction *instruction : order)
    if (isUsedElsewhere(*instruction))
      begin(instruction);
  for (Instruction *instruction : reverse(order)) {
    most = std::max(most, now);
    if (live.erase(instruction))
      now -= registersOf(*instruction, layout);
    if (!isa<PHINode>(instruction))
      for (Value *operand : instruction->operand_values())
        if (isa<Instruction>(operand))
          begin(operand);
  }
  return std::max(most, now);
}

void reorder(BasicBlock &block, const Order &order) {
  for (Instruction *instruction : order)
    instruction->moveBefore(block, block.end());
  // What nothing needs, such as what is computed again elsewhere.
  while (&block.front() != order.front()) {
    block.front().replaceAllUsesWith(PoisonValue::get(block.front().getType()));
    block.front().eraseFromParent();
  }
}

class Orderer {
public:
  explicit Orderer(Function &function) : function(function), layout(function.getParent()->getDataLayout()) {}

  void run() {
    bool isFree = isOfMostThreads(function) && !multiplies(function);
    if (isFree)
      readOnly = findReadOnlyLoads(function);
    for (BasicBlock &block : function)
      order(block, isFree ? registersForManyThreads(function) : mostRegisters, isFree);
  }

private:
  static constexpr unsigned mostRegisters = 255; ///< Of a thread.

  void order(BasicBlock &block, unsigned registers, bool acrossEffects) {
    if (block.size() <= registers)
      return;
    Order now;
    for (Instruction &instruction : block)
      now.push_back(&instruction);
    unsigned before = pressure(now, layout);
    if (before <= registers)
      return;
    DenseSet<Instruction *> late = findLateLoads(block, readOnly);
    Ordering ordering(block, acrossEffects, late);
    if (pressure(ordering.order, layout) >= before)
      return;
    for (Instruction *load : late)
      loadNonCoherently(*load);
    reorder(block, ordering.order);
  }

  Function &function;
  const DataLayout &layout;
  DenseSet<const Instruction *> readOnly;
};

} // namespace

void orderByResult(Function &function) {
  if (!function.isDeclaration())
    Orderer(function).run();
}

} // namespace tile::codegen
