// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/OrderInstructions.h"
#include "Codegen/MemoryUse.h"
#include "Codegen/ReadOnlyLoads.h"
#include "Codegen/RegisterBudget.h"
#include "Target/GpuTarget.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tile::codegen {
namespace {

using target::maxRegistersPerThread;

using Order = SmallVector<Instruction *>;

/// Returns true for instructions whose relative order must not change: side effects, memory accesses, and convergent
/// operations.
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

/// Returns the members of `loads` whose results are used only after the next barrier.
DenseSet<Instruction *> findLateLoads(BasicBlock &block, const DenseSet<const Instruction *> &loads) {
  DenseMap<const Instruction *, unsigned> segments; // index of the section between barriers
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

/// Returns the reads of shared memory in the block that may be delayed until just before their uses. Such a read must
/// not be separated by a write or a barrier from the last fixed instruction that depends on it, and none of these
/// dependent instructions may be one of `loads`, which are delayed past barriers.
DenseSet<Instruction *> findLateReads(BasicBlock &block, const DenseSet<Instruction *> &loads) {
  constexpr unsigned sharedMemory = 3;           // address space
  DenseMap<const Instruction *, unsigned> times; // index of the section between writes
  unsigned time = 0;
  for (Instruction &instruction : block) {
    times[&instruction] = time;
    time += instruction.mayWriteToMemory() && !isGlobalLoad(instruction) && !isGlobalStore(instruction);
  }
  auto isLate = [&](Instruction &load) {
    SmallVector<Instruction *> values = {&load};
    SmallPtrSet<Instruction *, 32> seen;
    while (!values.empty()) {
      Instruction *value = values.pop_back_val();
      if (isUsedElsewhere(*value))
        return false;
      for (User *user : value->users()) {
        auto *next = cast<Instruction>(user);
        if (!isFixed(*next) && seen.insert(next).second)
          values.push_back(next);
        else if (isFixed(*next) && (times[next] != times[&load] || loads.contains(next)))
          return false;
      }
    }
    return true;
  };
  DenseSet<Instruction *> late;
  for (Instruction &instruction : block)
    if (auto *load = dyn_cast<LoadInst>(&instruction);
        load && load->isSimple() && load->getPointerAddressSpace() == sharedMemory && isLate(*load))
      late.insert(load);
  return late;
}

/// Orders the instructions of a block, or a subset of them, so that each follows its operands.
class Ordering {
public:
  using Filter = llvm::function_ref<bool(const Instruction &)>;

  explicit Ordering(Filter isInside) : isInside(isInside) {}

  void add(Instruction &result) {
    // Visits operands first; an entry stays on the stack and is visited again when its operands have been added.
    Order stack = {&result};
    while (!stack.empty()) {
      Instruction *top = stack.back();
      size_t size = stack.size();
      if (!done.contains(top) && !isa<PHINode>(top))
        for (Value *operand : reverse(top->operand_values()))
          if (auto *needed = dyn_cast<Instruction>(operand); needed && isInside(*needed) && !done.contains(needed))
            stack.push_back(needed);
      if (stack.size() != size)
        continue;
      stack.pop_back();
      if (!done.insert(top).second)
        continue;
      order.push_back(top);
      if (usedImmediately.contains(top))
        addUses(top);
    }
  }

  /// Returns true if the result can be added without also adding a fixed instruction.
  bool isReady(Instruction &result) const {
    Order needs = {&result};
    SmallPtrSet<Instruction *, 32> seen;
    while (!needs.empty())
      for (Value *operand : needs.pop_back_val()->operand_values()) {
        auto *needed = dyn_cast<Instruction>(operand);
        if (!needed || !isInside(*needed) || done.contains(needed) || !seen.insert(needed).second)
          continue;
        if (isFixed(*needed))
          return false;
        needs.push_back(needed);
      }
    return true;
  }

  Order order;
  /// As soon as one of these instructions has been added, all users that can then be computed are added as well.
  DenseSet<Instruction *> usedImmediately;

private:
  void addUses(Instruction *value) {
    auto isAvailable = [&](const Value *operand) {
      auto *needed = dyn_cast<Instruction>(operand);
      return !needed || !isInside(*needed) || done.contains(needed);
    };
    Order made = {value};
    while (!made.empty())
      for (User *user : made.pop_back_val()->users()) {
        auto *next = cast<Instruction>(user);
        if (!isInside(*next) || isFixed(*next) || !all_of(next->operand_values(), isAvailable) ||
            !done.insert(next).second)
          continue;
        order.push_back(next);
        made.push_back(next);
      }
  }

  Filter isInside;
  DenseSet<const Instruction *> done;
};

/// Returns an order that keeps fixed instructions in place, except for late loads, and puts all other instructions just
/// before their uses. Values that other blocks use come last.
Order orderAcrossEffects(BasicBlock &block, const DenseSet<Instruction *> &late, bool usesAtOnce = false) {
  auto isInside = [&](const Instruction &instruction) { return instruction.getParent() == &block; };
  Ordering ordering(isInside);
  if (usesAtOnce)
    ordering.usedImmediately = late;
  // Adds the instructions that extract the registers of an inline assembly statement or a phi.
  auto addTaken = [&](Instruction &statement) {
    for (User *user : statement.users())
      if (auto *taken = dyn_cast<ExtractValueInst>(user); taken && isInside(*taken))
        ordering.add(*taken);
  };
  for (PHINode &phi : block.phis())
    ordering.add(phi);
  for (PHINode &phi : block.phis())
    addTaken(phi);
  for (Instruction &instruction : make_range(block.getFirstNonPHIIt(), block.getTerminator()->getIterator()))
    if (isFixed(instruction) && !late.contains(&instruction)) {
      ordering.add(instruction);
      addTaken(instruction);
    }
  for (Instruction &instruction : block)
    if (isUsedElsewhere(instruction))
      ordering.add(instruction);
  ordering.add(*block.getTerminator());
  return std::move(ordering.order);
}

/// Returns the number of 32-bit registers that a value takes; predicates have separate registers.
unsigned registersOf(const Value &value, const DataLayout &layout) {
  Type *type = value.getType();
  if (!type->isSized() || type->isIntegerTy(1))
    return 0;
  return unsigned(divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32));
}

/// Returns the maximum number of live registers in this order, counting the results and operands of the instructions.
unsigned pressure(ArrayRef<Instruction *> order, const DataLayout &layout, Ordering::Filter isNeededLater) {
  DenseSet<const Value *> live;
  unsigned now = 0, most = 0;
  auto begin = [&](const Value *value) {
    if (live.insert(value).second)
      now += registersOf(*value, layout);
  };
  for (Instruction *instruction : order)
    if (isNeededLater(*instruction))
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

/// Orders the instructions between two fixed instructions.
void orderSegment(ArrayRef<Instruction *> segment, Instruction *end) {
  if (segment.size() <= maxRegistersPerThread)
    return;
  const DataLayout &layout = end->getModule()->getDataLayout();
  DenseSet<const Instruction *> inside(segment.begin(), segment.end());
  auto isInside = [&](const Instruction &instruction) { return inside.contains(&instruction); };
  auto isInsideUser = [&](const User *user) { return isInside(*cast<Instruction>(user)); };
  auto isNeededLater = [&](const Instruction &instruction) { return !all_of(instruction.users(), isInsideUser); };
  unsigned before = pressure(segment, layout, isNeededLater);
  if (before <= maxRegistersPerThread)
    return;
  Ordering ordering(isInside);
  for (Instruction *result : segment)
    if (none_of(result->users(), isInsideUser))
      ordering.add(*result);
  if (pressure(ordering.order, layout, isNeededLater) >= before)
    return;
  for (Instruction *instruction : ordering.order)
    instruction->moveBefore(end->getIterator());
}

void orderBetweenEffects(BasicBlock &block) {
  SmallVector<std::pair<Order, Instruction *>> segments;
  Order segment;
  for (Instruction &instruction : block) {
    if (!isFixed(instruction)) {
      segment.push_back(&instruction);
      continue;
    }
    segments.emplace_back(std::move(segment), &instruction);
    segment.clear();
  }
  for (auto &[instructions, end] : segments)
    orderSegment(instructions, end);
}

void reorder(BasicBlock &block, const Order &order) {
  for (Instruction *instruction : order)
    instruction->moveBefore(block, block.end());
  // Deletes unused instructions, such as values that are recomputed elsewhere.
  while (&block.front() != order.front()) {
    block.front().replaceAllUsesWith(PoisonValue::get(block.front().getType()));
    block.front().eraseFromParent();
  }
}

/// Moves loads up, until the pending loads fill a quarter of a thread's registers.
Order loadAhead(const Order &order, const DenseSet<Instruction *> &loads, Ordering::Filter isInside) {
  const DataLayout &layout = order.front()->getModule()->getDataLayout();
  Order queue;
  copy_if(order, std::back_inserter(queue), [&](Instruction *instruction) { return loads.contains(instruction); });
  Ordering result(isInside);
  size_t next = 0, reached = 0;  // positions in the queue
  unsigned pendingRegisters = 0; // registers of pending loads
  for (Instruction *instruction : order) {
    result.add(*instruction);
    if (!loads.contains(instruction))
      continue;
    if (reached++ < next)
      pendingRegisters -= registersOf(*instruction, layout);
    next = std::max(next, reached);
    for (; next < queue.size() && pendingRegisters < maxRegistersPerThread / 4 && result.isReady(*queue[next]);
         ++next) {
      result.add(*queue[next]);
      pendingRegisters += registersOf(*queue[next], layout);
    }
  }
  return std::move(result.order);
}

/// Moves loads to just before their uses, and the dependent computations right after the loads, if that halves the
/// register pressure. An example is a block that is loaded completely before it is summed. Does nothing if the values
/// need at most four times a thread's registers, because ptxas then finds a better order itself.
void loadLate(BasicBlock &block, const DenseSet<const Instruction *> &readOnly) {
  const DataLayout &layout = block.getModule()->getDataLayout();
  Order now;
  DenseSet<Instruction *> late;
  for (Instruction &instruction : block) {
    now.push_back(&instruction);
    if (readOnly.contains(&instruction))
      late.insert(&instruction);
  }
  if (late.empty() || now.size() <= 4 * maxRegistersPerThread)
    return;
  unsigned before = pressure(now, layout, isUsedElsewhere);
  if (before <= 4 * maxRegistersPerThread)
    return;
  Order order = orderAcrossEffects(block, late, /*usesAtOnce=*/true);
  if (pressure(order, layout, isUsedElsewhere) > before / 2)
    return;
  reorder(block,
          loadAhead(order, late, [&](const Instruction &instruction) { return instruction.getParent() == &block; }));
}

void orderAllOf(BasicBlock &block, const DenseSet<const Instruction *> &readOnly, bool hasRows) {
  const DataLayout &layout = block.getModule()->getDataLayout();
  Order now;
  for (Instruction &instruction : block)
    now.push_back(&instruction);
  unsigned before = pressure(now, layout, isUsedElsewhere);
  if (before <= registersForManyThreads(*block.getParent()))
    return;
  DenseSet<Instruction *> loads = findLateLoads(block, readOnly), late = loads;
  if (hasRows)
    late.insert_range(findLateReads(block, loads));
  Order order = orderAcrossEffects(block, late);
  if (pressure(order, layout, isUsedElsewhere) >= before)
    return;
  for (Instruction *load : loads)
    loadNonCoherently(*load);
  reorder(block, order);
}

} // namespace

void orderByResult(Function &function) {
  if (function.isDeclaration())
    return;
  const bool hasRows = keepsRows(function), hasMmas = multiplies(function);
  const bool isAcrossEffects = hasRows || (isOfMostThreads(function) && !hasMmas);
  DenseSet<const Instruction *> readOnly;
  if (isAcrossEffects || !hasMmas)
    readOnly = findReadOnlyLoads(function);
  for (BasicBlock &block : function)
    if (isAcrossEffects) {
      orderAllOf(block, readOnly, hasRows);
    } else {
      loadLate(block, readOnly);
      orderBetweenEffects(block);
    }
}

} // namespace tile::codegen
