// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/ReadOnlyLoads.h"
#include "Codegen/MemoryUse.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace tile::codegen {
namespace {

/// Returns the parameter from which a pointer to global memory is derived, or null.
const Argument *parameterOf(const Value *pointer) {
  return dyn_cast<Argument>(getUnderlyingObject(pointer, /*MaxLookup=*/0));
}

class Writes {
public:
  explicit Writes(Function &function) {
    for (Instruction &instruction : instructions(function))
      if (instruction.mayWriteToMemory() && !isGlobalLoad(instruction))
        add(instruction);
  }

  bool mayReach(const Argument *parameter) const { return isUnknown || parameters.contains(parameter); }

private:
  static constexpr unsigned sharedMemory = 3; // address space

  void add(const Instruction &instruction) {
    bool hasPointer = false;
    for (const Value *operand : instruction.operands()) {
      if (!operand->getType()->isPointerTy() || isa<Function, InlineAsm>(operand))
        continue;
      hasPointer = true;
      if (operand->getType()->getPointerAddressSpace() == sharedMemory)
        continue;
      const Argument *parameter = parameterOf(operand);
      parameters.insert(parameter);
      isUnknown |= !parameter;
    }
    // The following instructions are treated as writes to any memory. Without a pointer operand, an instruction may
    // take its address from an integer or from a tensor map. With programmatic dependent launch, another grid may
    // write. An acquire or a volatile load must observe the writes of other threads.
    StringRef text = nameOf(instruction);
    isUnknown |= text.contains("griddepcontrol") || text.contains(".acq") || text.contains(".volatile") ||
                 instruction.isVolatile() ||
                 (!hasPointer && (text.contains("global") || text.contains("bulk") || text.contains("tensor")));
  }

  DenseSet<const Argument *> parameters;
  bool isUnknown = false;
};

} // namespace

DenseSet<const Instruction *> findReadOnlyLoads(Function &function) {
  DenseSet<const Instruction *> loads;
  Writes writes(function);
  for (Instruction &instruction : instructions(function)) {
    if (!isGlobalLoad(instruction))
      continue;
    auto isAddress = [](const Use &use) { return use->getType()->isPointerTy() && !isa<InlineAsm>(use); };
    const Use *address = find_if(instruction.operands(), isAddress);
    const Argument *parameter = address == instruction.op_end() ? nullptr : parameterOf(*address);
    if (parameter && !writes.mayReach(parameter))
      loads.insert(&instruction);
  }
  return loads;
}

void loadNonCoherently(Instruction &load) {
  auto *call = dyn_cast<CallInst>(&load);
  if (!call) {
    load.setMetadata(LLVMContext::MD_invariant_load, MDNode::get(load.getContext(), {}));
    return;
  }
  constexpr StringRef coherent = "ld.global.";
  auto *statement = cast<InlineAsm>(call->getCalledOperand());
  std::string text = statement->getAsmString().str();
  size_t place = text.find(coherent.str() + "v");
  if (place == std::string::npos)
    return; // has a cache hint, or loads a single element
  text.insert(place + coherent.size(), "nc.");
  call->setCalledOperand(InlineAsm::get(statement->getFunctionType(), text, statement->getConstraintString(),
                                        statement->hasSideEffects()));
}

} // namespace tile::codegen
