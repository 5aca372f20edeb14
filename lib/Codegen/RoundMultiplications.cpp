// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/RoundMultiplications.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace tile::codegen {

/// Returns true if the value may reach an addition, directly or through moves and sign changes.
static bool mayBeAdded(const Value &value, unsigned depth = 0) {
  constexpr unsigned maxDepth = 4; // beyond this depth, assume an addition
  if (depth == maxDepth)
    return true;
  return llvm::any_of(value.users(), [&](const User *user) {
    const auto *instruction = cast<Instruction>(user);
    switch (instruction->getOpcode()) {
    case Instruction::FAdd:
    case Instruction::FSub:
      return true;
    case Instruction::FNeg:
    case Instruction::FPExt:
    case Instruction::PHI:
    case Instruction::Select:
    case Instruction::ExtractElement:
    case Instruction::InsertElement:
    case Instruction::ShuffleVector:
    case Instruction::BitCast:
      return mayBeAdded(*instruction, depth + 1);
    default:
      return false;
    }
  });
}

static std::optional<Intrinsic::ID> findFma(Type *type) {
  bool isPair = type->isVectorTy();
  if (isPair && cast<FixedVectorType>(type)->getNumElements() != 2)
    return std::nullopt;
  if (type->getScalarType()->isHalfTy())
    return isPair ? Intrinsic::nvvm_fma_rn_f16x2 : Intrinsic::nvvm_fma_rn_f16;
  if (type->getScalarType()->isBFloatTy())
    return isPair ? Intrinsic::nvvm_fma_rn_bf16x2 : Intrinsic::nvvm_fma_rn_bf16;
  return std::nullopt;
}

void roundMultiplications(Function &function, bool hasBF16) {
  for (Instruction &product : make_early_inc_range(instructions(function))) {
    Type *type = product.getType();
    std::optional<Intrinsic::ID> fma = product.getOpcode() == Instruction::FMul ? findFma(type) : std::nullopt;
    if (!fma || !mayBeAdded(product))
      continue;
    IRBuilder<> builder(&product);
    Value *x = product.getOperand(0), *y = product.getOperand(1), *rounded;
    if (type->getScalarType()->isBFloatTy() && !hasBF16) {
      Type *wide = type->getWithNewType(builder.getFloatTy());
      rounded =
          builder.CreateFPTrunc(builder.CreateFMul(builder.CreateFPExt(x, wide), builder.CreateFPExt(y, wide)), type);
    } else {
      rounded = builder.CreateIntrinsic(*fma, {x, y, ConstantFP::getNegativeZero(type)});
    }
    product.replaceAllUsesWith(rounded);
    product.eraseFromParent();
  }
}

} // namespace tile::codegen
