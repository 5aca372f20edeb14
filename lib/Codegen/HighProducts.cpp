// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/HighProducts.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace tile::codegen {

namespace {

/// A 64-bit product of two 32-bit integers.
struct WideProduct {
  Value *lhs, *rhs; ///< i32
  bool isSigned;
};

/// Returns the 32-bit integer that is extended to `wide`, or null.
Value *narrowed(Value *wide, bool isSigned) {
  Value *narrow;
  if (isSigned ? match(wide, m_SExt(m_Value(narrow))) : match(wide, m_ZExt(m_Value(narrow))))
    return narrow->getType()->isIntegerTy(32) ? narrow : nullptr;
  const APInt *constant;
  if (!match(wide, m_APInt(constant)) || !(isSigned ? constant->isSignedIntN(32) : constant->isIntN(32)))
    return nullptr;
  return ConstantInt::get(Type::getInt32Ty(wide->getContext()), constant->trunc(32));
}

std::optional<WideProduct> findWideProduct(const Instruction &instruction) {
  if (instruction.getOpcode() != Instruction::Mul || !instruction.getType()->isIntegerTy(64))
    return std::nullopt;
  for (bool isSigned : {false, true}) {
    Value *lhs = narrowed(instruction.getOperand(0), isSigned), *rhs = narrowed(instruction.getOperand(1), isSigned);
    if (lhs && rhs)
      return WideProduct{lhs, rhs, isSigned};
  }
  return std::nullopt;
}

bool isHighHalf(const User *user) {
  return match(user, m_LShr(m_Value(), m_SpecificInt(32)));
}

/// Returns true if the back end, which selects instructions block by block, sees that all operands are narrow.
bool isSelectedAsNarrow(const Instruction &product) {
  return llvm::all_of(product.operands(), [&](const Use &operand) {
    auto *extended = dyn_cast<Instruction>(operand);
    return !extended || extended->getParent() == product.getParent();
  });
}

} // namespace

void multiplyHigh(Function &function) {
  SmallVector<Instruction *> dead;
  for (Instruction &instruction : instructions(function)) {
    std::optional<WideProduct> product = findWideProduct(instruction);
    if (!product || isSelectedAsNarrow(instruction))
      continue;
    for (User *user : make_early_inc_range(instruction.users())) {
      auto *half = cast<Instruction>(user);
      IRBuilder<> builder(half);
      Value *result;
      if (isHighHalf(half)) {
        Intrinsic::ID multiply = product->isSigned ? Intrinsic::nvvm_mulhi_i : Intrinsic::nvvm_mulhi_ui;
        Value *high = builder.CreateIntrinsic(multiply, {product->lhs, product->rhs});
        result = builder.CreateZExt(high, half->getType());
        for (User *part : make_early_inc_range(half->users()))
          if (isa<TruncInst>(part) && part->getType()->isIntegerTy(32)) {
            part->replaceAllUsesWith(high);
            dead.push_back(cast<Instruction>(part));
          }
      } else if (isa<TruncInst>(half) && half->getType()->isIntegerTy(32)) {
        result = builder.CreateMul(product->lhs, product->rhs);
      } else {
        continue;
      }
      half->replaceAllUsesWith(result);
      dead.push_back(half);
    }
    dead.push_back(&instruction);
  }
  for (Instruction *instruction : dead)
    if (instruction->use_empty())
      instruction->eraseFromParent();
}

} // namespace tile::codegen
