// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/UniformAddresses.h"
#include "Codegen/MemoryUse.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

#include <optional>

using namespace llvm;

namespace tile::codegen {
namespace {

constexpr unsigned sharedAddressSpace = 3;

bool isWgmma(const Instruction &instruction) {
  return nameOf(instruction).contains("wgmma.mma_async");
}

/// A constant address in shared memory: a buffer and an offset in bytes.
struct SharedAddress {
  GlobalVariable *buffer;
  int64_t offset;
};

std::optional<SharedAddress> matchSharedAddress(Value *value, const DataLayout &layout) {
  if (auto *number = dyn_cast<ConstantExpr>(value); number && number->getOpcode() == Instruction::PtrToInt)
    value = number->getOperand(0);
  if (!isa<Constant>(value) || !value->getType()->isPointerTy() ||
      value->getType()->getPointerAddressSpace() != sharedAddressSpace)
    return std::nullopt;
  APInt offset(layout.getIndexTypeSizeInBits(value->getType()), 0);
  auto *buffer =
      dyn_cast<GlobalVariable>(value->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
  return buffer ? std::optional(SharedAddress{buffer, offset.getSExtValue()}) : std::nullopt;
}

/// Returns true for users that need the address in a register; other users take it as an immediate.
bool isInRegister(const Instruction &user) {
  auto *call = dyn_cast<CallInst>(&user);
  return isa<GetElementPtrInst, BinaryOperator>(user) || (call && call->isInlineAsm());
}

/// Recomputes addresses from the address of the buffer, which is materialized at `place`.
class BaseRewriter {
public:
  explicit BaseRewriter(BasicBlock::iterator place) : place(place) {}

  void rewrite(BasicBlock &block) {
    for (Instruction &user : make_early_inc_range(block)) {
      if (!isInRegister(user))
        continue;
      for (Use &use : user.operands())
        if (std::optional<SharedAddress> address = matchSharedAddress(use, block.getDataLayout()))
          use = emit(*address, use->getType(), user);
    }
  }

private:
  Value *emit(SharedAddress address, Type *type, Instruction &user) {
    Value *&base = bases[address.buffer];
    if (!base) {
      // The assembly is marked as having side effects, so that LLVM does not move it.
      auto *function = FunctionType::get(address.buffer->getType(), /*isVarArg=*/false);
      auto text = "mov.b64 \t$0, " + address.buffer->getName().str() + ";";
      IRBuilder<> builder(place->getParent(), place);
      base = builder.CreateCall(InlineAsm::get(function, text, "=l", /*hasSideEffects=*/true));
    }
    IRBuilder<> builder(&user);
    Value *pointer = address.offset ? builder.CreatePtrAdd(base, builder.getInt64(address.offset)) : base;
    return type->isPointerTy() ? pointer : builder.CreatePtrToInt(pointer, type);
  }

  BasicBlock::iterator place;
  DenseMap<GlobalVariable *, Value *> bases;
};

} // namespace

void takeSharedBaseAnew(Function &function) {
  if (none_of(instructions(function), isWgmma))
    return;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  SmallVector<BasicBlock *> blocks;
  for (BasicBlock &block : function)
    if (Loop *loop = loops.getLoopFor(&block); !loop || !loop->isInnermost())
      blocks.push_back(&block);
  for (BasicBlock *block : blocks)
    BaseRewriter(block->getFirstInsertionPt()).rewrite(*block);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost())
      continue;
    BasicBlock *before = loop->getLoopPreheader();
    if (!before)
      before = InsertPreheaderForLoop(loop, &dominators, &loops, /*MSSAU=*/nullptr, /*PreserveLCSSA=*/false);
    BaseRewriter rewriter(before ? before->getTerminator()->getIterator() : loop->getHeader()->getFirstInsertionPt());
    for (BasicBlock *block : loop->blocks())
      rewriter.rewrite(*block);
  }
}

} // namespace tile::codegen
