// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/MemoryUse.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace tile::codegen {

StringRef nameOf(const Instruction &instruction) {
  auto *call = dyn_cast<CallBase>(&instruction);
  if (!call)
    return "";
  if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand()))
    return text->getAsmString();
  return call->getCalledFunction() ? call->getCalledFunction()->getName() : "";
}

bool multiplies(const Function &function) {
  return any_of(instructions(function),
                [](const Instruction &instruction) { return nameOf(instruction).contains("mma."); });
}

bool isBarrier(const Instruction &instruction) {
  return nameOf(instruction).starts_with("llvm.nvvm.barrier.");
}

bool hasBarrier(const Function &function) {
  return any_of(instructions(function), isBarrier);
}

bool keepsRows(const Function &function) {
  auto isCopy = [](const Instruction &instruction) { return nameOf(instruction).contains("cp.async.commit"); };
  return function.hasFnAttribute("nvvm.minctasm") && !multiplies(function) && any_of(instructions(function), isCopy);
}

/// Returns true if the statement is a single instruction that starts with `instruction`, with or without a predicate.
static bool isAlone(StringRef text, StringRef instruction) {
  if (text.starts_with("@")) // skips a predicate
    text = text.drop_until([](char letter) { return letter == ' '; }).ltrim();
  return text.starts_with(instruction) && text.count(';') == 1 && !text.starts_with((instruction + "volatile").str());
}

bool isGlobalLoad(const Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return load->isSimple() && load->getPointerAddressSpace() == 1;
  return isAlone(nameOf(instruction), "ld.global.");
}

bool isGlobalStore(const Instruction &instruction) {
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->isSimple() && store->getPointerAddressSpace() == 1;
  return isAlone(nameOf(instruction), "st.global.");
}

} // namespace tile::codegen
