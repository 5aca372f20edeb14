// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvvm-carry-words: let loops carry 32-bit words, or pairs of bytes, instead of their elements.
//
// A tensor of f16 becomes one scalar per element, but instructions use words of two elements. Conversions to 8-bit
// floats give two bytes; LLVM would carry a vector of two bytes in two registers, so the loop carries an i16 instead.
// Within a block, LLVM removes redundant packing and unpacking. It does not do so across loop arguments, so each
// iteration would unpack and repack all words.
//
//   for iter_args(%x = …, %y = …)                       for iter_args(%w = pack(…, …))
//     use(pack(%x, %y))                           ==>     use(pack(%w[0], %w[1]))           // LLVM: use(%w)
//     yield %v[0], %v[1]                                  yield %v
//
// The arguments that carried the elements remain, without uses.
#include "Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace tile {
#define GEN_PASS_DEF_NVVMCARRYWORDS
#include "Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;

namespace {

/// A word whose elements are the yielded values with the indices first, first + 1, …
struct CarriedWord {
  unsigned first;
  TypedValue<VectorType> word;
};

constexpr int64_t bitsOfPair = 16;

/// Returns the type in which a loop carries a word.
Type carriedType(VectorType type) {
  bool isPair = type.getNumElements() * type.getElementTypeBitWidth() == bitsOfPair;
  return isPair ? Type(IntegerType::get(type.getContext(), bitsOfPair)) : type;
}

Value castTo(OpBuilder &builder, Type type, Value value) {
  return value.getType() == type ? value : LLVM::BitcastOp::create(builder, value.getLoc(), type, value).getResult();
}

/// Returns the vector from which `value` is extracted at index `position`, or null.
TypedValue<VectorType> findWord(Value value, int64_t position) {
  auto extract = value.getDefiningOp<LLVM::ExtractElementOp>();
  APInt index;
  if (!extract || !matchPattern(extract.getPosition(), m_ConstantInt(&index)) || index != position)
    return {};
  return dyn_cast<TypedValue<VectorType>>(extract.getVector());
}

std::optional<CarriedWord> planWord(scf::ForOp loop, unsigned first) {
  ValueRange yielded = loop.getYieldedValues();
  TypedValue<VectorType> word = findWord(yielded[first], 0);
  // A word that is defined outside the loop is not carried.
  if (!word || !loop.getRegion().isAncestor(word.getParentRegion()))
    return std::nullopt;
  VectorType type = word.getType();
  int64_t count = type.getNumElements(), bits = count * type.getElementTypeBitWidth();
  bool isWord = type.getRank() == 1 && count > 1 && (bits == 32 || bits == bitsOfPair);
  if (!isWord || first + count > int64_t(yielded.size()))
    return std::nullopt;
  for (int64_t position = 1; position < count; ++position)
    if (findWord(yielded[first + position], position) != word)
      return std::nullopt;
  return CarriedWord{first, word};
}

Value emitIndex(OpBuilder &builder, Location loc, int64_t index) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(int32_t(index)));
}

Value packWord(OpBuilder &builder, Location loc, VectorType type, ValueRange elements) {
  Value word = LLVM::UndefOp::create(builder, loc, type);
  for (auto [index, element] : llvm::enumerate(elements))
    word = LLVM::InsertElementOp::create(builder, loc, word, element, emitIndex(builder, loc, index));
  return word;
}

/// Replaces `elements` by the elements of `word`.
void useWord(IRRewriter &rewriter, Value word, ValueRange elements) {
  for (auto [index, element] : llvm::enumerate(elements)) {
    Value position = emitIndex(rewriter, word.getLoc(), index);
    rewriter.replaceAllUsesWith(element,
                                LLVM::ExtractElementOp::create(rewriter, word.getLoc(), word, position).getResult());
  }
}

void carryWords(IRRewriter &rewriter, scf::ForOp loop) {
  SmallVector<CarriedWord> plans;
  for (unsigned first = 0; first < loop.getNumRegionIterArgs(); ++first)
    if (std::optional<CarriedWord> plan = planWord(loop, first))
      plans.push_back(*plan);
  if (plans.empty())
    return;
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> initial;
  for (const CarriedWord &plan : plans) {
    VectorType type = plan.word.getType();
    ValueRange elements = loop.getInitArgs().slice(plan.first, type.getNumElements());
    initial.push_back(castTo(rewriter, carriedType(type), packWord(rewriter, loop.getLoc(), type, elements)));
  }
  auto yieldWords = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument>) {
    SmallVector<Value> carried;
    for (const CarriedWord &plan : plans)
      carried.push_back(castTo(builder, carriedType(plan.word.getType()), plan.word));
    return carried;
  };
  auto replaced = cast<scf::ForOp>(
      *loop.replaceWithAdditionalYields(rewriter, initial, /*replaceInitOperandUsesInLoop=*/false, yieldWords));
  size_t added = replaced.getNumResults() - plans.size();
  for (auto [index, plan] : llvm::enumerate(plans)) {
    VectorType type = plan.word.getType();
    int64_t count = type.getNumElements();
    rewriter.setInsertionPointToStart(replaced.getBody());
    useWord(rewriter, castTo(rewriter, type, replaced.getRegionIterArg(added + index)),
            ValueRange(replaced.getRegionIterArgs()).slice(plan.first, count));
    rewriter.setInsertionPointAfter(replaced);
    useWord(rewriter, castTo(rewriter, type, replaced.getResult(added + index)),
            ValueRange(replaced.getResults()).slice(plan.first, count));
  }
}

struct NvvmCarryWords : tile::impl::NvvmCarryWordsBase<NvvmCarryWords> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops)
      carryWords(rewriter, loop);
  }
};

} // namespace
