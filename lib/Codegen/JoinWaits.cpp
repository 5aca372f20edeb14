// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/JoinWaits.h"
#include "Codegen/MemoryUse.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

#include <optional>

using namespace llvm;

namespace tile::codegen {
namespace {

/// Returns true for a wait in the form that emitBarrierWait emits, with an address and a parity as operands.
bool isWait(const Instruction &instruction) {
  return nameOf(instruction).contains("mbarrier.try_wait.parity") && cast<CallInst>(instruction).arg_size() == 2;
}

/// Returns true if a wait may be moved before the instruction. Other threads cannot observe when a wait begins.
bool canFollowWait(const Instruction &instruction) {
  StringRef assembly = nameOf(instruction);
  if (assembly.contains("wgmma.mma_async"))
    return !assembly.contains("wgmma.wait_group");
  auto *intrinsic = dyn_cast<IntrinsicInst>(&instruction);
  bool isShuffle = intrinsic && intrinsic->getIntrinsicID() == Intrinsic::nvvm_shfl_sync_idx_i32;
  return isShuffle || (!instruction.mayHaveSideEffects() && !instruction.mayReadFromMemory());
}

/// Returns the instructions after `place` that compute the operands of `wait`, in order; nullopt if they cannot be
/// moved to `place`.
std::optional<SmallVector<Instruction *>> collectOperands(CallInst *wait, const Instruction *place) {
  SetVector<Instruction *> needed;
  SmallVector<Instruction *> open = {wait};
  while (!open.empty())
    for (Value *operand : open.pop_back_val()->operands()) {
      auto *made = dyn_cast<Instruction>(operand);
      if (!made || made->getParent() != place->getParent() || made->comesBefore(place))
        continue;
      if (made->mayHaveSideEffects() || made->mayReadFromMemory())
        return std::nullopt;
      if (needed.insert(made))
        open.push_back(made);
    }
  SmallVector<Instruction *> order(needed.begin(), needed.end());
  llvm::sort(order, [](Instruction *a, Instruction *b) { return a->comesBefore(b); });
  return order;
}

/// Emits a loop that tests all barriers, until the awaited phases of all of them are complete.
void emitJoined(ArrayRef<CallInst *> waits) {
  SmallVector<Value *> operands;
  SmallVector<Type *> types;
  std::string text = "{\n.reg .pred complete, all;\nagain:\n", constraints;
  for (CallInst *wait : waits) {
    std::string target = operands.empty() ? "all" : "complete";
    text += "mbarrier.try_wait.parity.shared::cta.b64 " + target + ", [$" + std::to_string(operands.size()) + "], $" +
            std::to_string(operands.size() + 1) + ";\n";
    if (!operands.empty())
      text += "and.pred all, all, complete;\n";
    constraints += operands.empty() ? "l,r" : ",l,r";
    for (Value *operand : wait->args()) {
      operands.push_back(operand);
      types.push_back(operand->getType());
    }
  }
  text += "@!all bra again;\n}";
  IRBuilder<> builder(waits.front());
  auto *type = FunctionType::get(builder.getVoidTy(), types, /*isVarArg=*/false);
  CallInst *joined = builder.CreateCall(InlineAsm::get(type, text, constraints, /*hasSideEffects=*/true), operands);
  joined->setAttributes(waits.front()->getAttributes());
  for (CallInst *wait : waits)
    wait->eraseFromParent();
}

void joinWaitsOf(BasicBlock &block) {
  SmallVector<SmallVector<CallInst *>> groups(1);
  for (Instruction &instruction : make_early_inc_range(block)) {
    if (!isWait(instruction)) {
      if (!canFollowWait(instruction) && !groups.back().empty())
        groups.emplace_back();
      continue;
    }
    auto *wait = cast<CallInst>(&instruction);
    if (!groups.back().empty()) {
      CallInst *first = groups.back().front();
      if (std::optional<SmallVector<Instruction *>> operands = collectOperands(wait, first)) {
        for (Instruction *operand : *operands)
          operand->moveBefore(first->getIterator());
      } else {
        groups.emplace_back();
      }
    }
    groups.back().push_back(wait);
  }
  for (const auto &waits : groups)
    if (waits.size() > 1)
      emitJoined(waits);
}

} // namespace

void joinWaits(Function &function) {
  for (BasicBlock &block : function)
    joinWaitsOf(block);
}

} // namespace tile::codegen
