// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps 16-bit values packed in 32-bit words across barriers.
//
//   %x = fpext half %low to float          %x = fpext half %low to float
//   … sum of %x …                          … sum of %x …
//   barrier                          ==>   barrier
//   store %x - %mean                       %word2 = asm "xor.b32" %word, %zero     ; then bitcast, extractelement
//                                          %x2 = fpext half %low2 to float
//                                          store %x2 - %mean
//
// A row of halves that is read, reduced and then written stays in registers. Once it is widened, it takes twice as many
// registers: if a thread holds 32 elements of each of two operands, they fill all 64 registers that each of 1024
// threads has. Cheap computations that combine a widened value with values that many elements share (%x - %mean) are
// repeated as well. LLVM and ptxas would merge the repeated computation with the original one. To prevent this, the
// word is XORed with a zero that they cannot recognise.
//
// If a CTA has 1024 threads, a second CTA fits only with 32 registers per thread. In this case exponentials are
// recomputed as well. For a row of 32,768 columns, a thread then keeps only 16 words, and one CTA computes its row
// while the other one loads the next row.
#include "Codegen/KeepPacked.h"
#include "Codegen/MemoryUse.h"
#include "Codegen/RegisterBudget.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;
using namespace llvm::PatternMatch;

namespace tile::codegen {
namespace {

/// Returns the word that contains the half that was widened to `value`, or null.
Value *wordOf(Value *value) {
  Value *word = nullptr;
  if (!match(value, m_FPExt(m_ExtractElt(m_BitCast(m_Value(word)), m_ConstantInt()))))
    return nullptr;
  return word->getType()->isIntegerTy(32) ? word : nullptr;
}

class Block {
public:
  Block(BasicBlock &block, bool withExponentials) : block(block), withExponentials(withExponentials) {
    unsigned segment = 0;
    for (Instruction &instruction : block) {
      segments[&instruction] = segment;
      segment += isBarrier(instruction);
    }
  }

  struct Use {
    llvm::Use *use;
    unsigned segment;
  };

  /// Returns the uses of widened values, and of values computed from them, that follow a barrier after the definition.
  /// `onlyShared` excludes values that are used only after the barrier: they are widened there anyway and stay packed
  /// until then.
  SmallVector<Use> find(bool onlyShared) {
    SmallVector<Use> uses;
    for (Instruction &user : block)
      for (llvm::Use &use : user.operands()) {
        auto *value = dyn_cast<Instruction>(use.get());
        auto found = segments.find(value);
        if (value && !isa<PHINode>(user) && found != segments.end() && found->second < segments[&user] &&
            isCheap(value, 0) && !(onlyShared && isNeededLater(value)))
          uses.push_back({&use, segments[&user]});
      }
    return uses;
  }

  void recompute(const Use &use, Value *zero) {
    auto *user = cast<Instruction>(use.use->getUser());
    use.use->set(compute(cast<Instruction>(use.use->get()), use.segment, zero, user));
  }

private:
  /// Returns true for values that many elements share; such values stay in their registers.
  static bool isShared(const Value *value) {
    constexpr unsigned many = 8;
    return !isa<Instruction>(value) || value->hasNUsesOrMore(many);
  }

  bool isOneInstruction(const Instruction &operation) const {
    bool isExponential = nameOf(operation).starts_with("llvm.nvvm.ex2.approx");
    return isExponential ? withExponentials
                         : isa<BinaryOperator, UnaryOperator, SelectInst>(operation) &&
                               operation.getOpcode() != Instruction::FDiv;
  }

  /// Returns true for a widened value that is not used before the next barrier.
  bool isNeededLater(Value *value) const {
    return wordOf(value) && none_of(value->users(), [&](User *user) {
             auto place = segments.find(cast<Instruction>(user));
             return place != segments.end() && place->second == segments.lookup(cast<Instruction>(value));
           });
  }

  bool isCheap(Value *value, unsigned depth) const {
    unsigned most = withExponentials ? 3 : 2; // operations in addition to the conversion
    if (wordOf(value))
      return true;
    auto *operation = dyn_cast<Instruction>(value);
    if (depth >= most || !operation || !value->getType()->isFloatTy() || !isOneInstruction(*operation))
      return false;
    unsigned wide = 0;
    for (Value *operand : operation->operands())
      if (!isShared(operand)) {
        if (!isCheap(operand, depth + 1))
          return false;
        ++wide;
      }
    return wide == 1;
  }

  Value *compute(Instruction *value, unsigned segment, Value *zero, Instruction *user) {
    Value *&known = computed[{value, segment}];
    if (known)
      return known;
    IRBuilder<> builder(user);
    builder.SetCurrentDebugLocation(value->getDebugLoc());
    if (Value *word = wordOf(value)) {
      Value *&hidden = computed[{word, segment}];
      Type *type = word->getType();
      if (!hidden) {
        auto *text = InlineAsm::get(FunctionType::get(type, {type, type}, false), "xor.b32 $0, $1, $2;", "=r,r,r",
                                    /*hasSideEffects=*/false);
        CallInst *call = builder.CreateCall(text, {word, zero});
        call->setDoesNotAccessMemory();
        call->setDoesNotThrow();
        call->addFnAttr(Attribute::WillReturn);
        hidden = call;
      }
      auto *half = cast<ExtractElementInst>(value->getOperand(0));
      Value *pair = builder.CreateBitCast(hidden, half->getVectorOperandType());
      Value *wide = builder.CreateFPExt(builder.CreateExtractElement(pair, half->getIndexOperand()), value->getType());
      return computed[{value, segment}] = wide;
    }
    Instruction *copy = value->clone();
    for (llvm::Use &operand : copy->operands())
      if (!isShared(operand.get()))
        operand.set(compute(cast<Instruction>(operand.get()), segment, zero, user));
    copy->insertBefore(user->getIterator());
    return computed[{value, segment}] = copy;
  }

  BasicBlock &block;
  bool withExponentials;
  DenseMap<const Value *, unsigned> segments;
  DenseMap<std::pair<Value *, unsigned>, Value *> computed;
};

/// Emits a zero that optimizers cannot recognise: bit 31 of the number of multiprocessors.
Value *hiddenZero(Function &function) {
  IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  auto *text = InlineAsm::get(FunctionType::get(builder.getInt32Ty(), false), "mov.u32 $0, %nsmid;", "=r", true);
  return builder.CreateLShr(builder.CreateCall(text), 31);
}

} // namespace

void keepPacked(Function &function) {
  // Minimum number of uses to replace; a word has two to four uses. With fewer uses, less than a quarter of the
  // registers would be saved, which gains nothing.
  const unsigned few = registersForManyThreads(function);
  if (function.isDeclaration() || multiplies(function))
    return;
  Value *zero = nullptr;
  for (BasicBlock &basic : function) {
    Block block(basic, isOfMostThreads(function));
    SmallVector<Block::Use> uses = block.find(/*onlyShared=*/keepsRows(function));
    if (uses.size() < few)
      continue;
    if (!zero)
      zero = hiddenZero(function);
    for (const Block::Use &use : uses)
      block.recompute(use, zero);
  }
}

} // namespace tile::codegen
