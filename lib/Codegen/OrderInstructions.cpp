// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/OrderInstructions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tile::codegen {
namespace {

constexpr unsigned numRegisters = 255; ///< of a thread

using Order = SmallVector<Instruction *>;

/// What must stay where it is among its like: effects, loads, and what threads do together.
bool isFixed(const Instruction &instruction) {
  if (isa<PHINode, AllocaInst>(instruction) || instruction.isTerminator() || instruction.mayReadOrWriteMemory() ||
      instruction.mayHaveSideEffects())
    return true;
  const auto *call = dyn_cast<CallBase>(&instruction);
  return call && call->isConvergent();
}

/// The results in their order, each behind what it is made of.
Order orderedByResult(ArrayRef<Instruction *> segment, const DenseSet<const Instruction *> &inside) {
  Order order;
  DenseSet<const Instruction *> done;
  for (Instruction *result : segment) {
    bool isResult =
        none_of(result->users(), [&](const User *user) { return inside.contains(cast<Instruction>(user)); });
    if (!isResult)
      continue;
    // Operands first; an entry is met again when its operands are done.
    SmallVector<Instruction *> stack = {result};
    while (!stack.empty()) {
      Instruction *top = stack.back();
      size_t size = stack.size();
      if (!done.contains(top))
        for (Value *operand : reverse(top->operand_values()))
          if (auto *needed = dyn_cast<Instruction>(operand);
              needed && inside.contains(needed) && !done.contains(needed))
            stack.push_back(needed);
      if (stack.size() != size)
        continue;
      stack.pop_back();
      if (done.insert(top).second)
        order.push_back(top);
    }
  }
  return order;
}

/// Registers of 32 bits; predicates have their own.
unsigned registersOf(const Value &value, const DataLayout &layout) {
  Type *type = value.getType();
  if (!type->isSized() || type->isIntegerTy(1))
    return 0;
  return unsigned(divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32));
}

/// The most registers that values of the segment take at once, in this order.
unsigned pressure(ArrayRef<Instruction *> order, const DenseSet<const Instruction *> &inside,
                  const DataLayout &layout) {
  DenseSet<const Value *> live;
  unsigned now = 0, most = 0;
  auto begin = [&](const Value *value) {
    if (live.insert(value).second)
      now += registersOf(*value, layout);
  };
  for (Instruction *instruction : order)
    if (any_of(instruction->users(), [&](const User *user) { return !inside.contains(cast<Instruction>(user)); }))
      begin(instruction);
  for (Instruction *instruction : reverse(order)) {
    most = std::max(most, now);
    if (live.erase(instruction))
      now -= registersOf(*instruction, layout);
    for (Value *operand : instruction->operand_values())
      if (isa<Instruction>(operand))
        begin(operand);
  }
  return std::max(most, now);
}

void orderSegment(ArrayRef<Instruction *> segment, Instruction *end) {
  if (segment.size() <= numRegisters)
    return;
  const DataLayout &layout = end->getModule()->getDataLayout();
  DenseSet<const Instruction *> inside(segment.begin(), segment.end());
  unsigned before = pressure(segment, inside, layout);
  if (before <= numRegisters)
    return;
  Order order = orderedByResult(segment, inside);
  if (pressure(order, inside, layout) >= before)
    return;
  for (Instruction *instruction : order)
    instruction->moveBefore(end->getIterator());
}

} // namespace

void orderByResult(Function &function) {
  for (BasicBlock &block : function) {
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
}

} // namespace tile::codegen
