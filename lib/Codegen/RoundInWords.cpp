// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Codegen/RoundInWords.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace tile::codegen {

void roundInWords(Function &function) {
  for (Instruction &widen : make_early_inc_range(instructions(function))) {
    Value *half = nullptr, *wide = nullptr;
    if (!match(&widen, m_FPExt(m_Value(half))) || !match(half, m_FPTrunc(m_Value(wide))) ||
        !half->getType()->isBFloatTy() || !wide->getType()->isFloatTy() || !widen.getType()->isFloatTy())
      continue;
    IRBuilder<> builder(&widen);
    Value *zero = ConstantFP::getZero(wide->getType());
    Value *pair = builder.CreateIntrinsic(Intrinsic::nvvm_ff2bf16x2_rn, {wide, zero});
    widen.replaceAllUsesWith(builder.CreateBitCast(pair, widen.getType()));
    widen.eraseFromParent();
    if (half->use_empty())
      cast<Instruction>(half)->eraseFromParent();
  }
}

} // namespace tile::codegen
