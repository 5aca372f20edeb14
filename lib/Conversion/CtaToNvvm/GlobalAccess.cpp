// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses to global memory; see GlobalAccess.h. According to the PTX ISA ("ld", "st"), a cache operator cannot be
// combined with an L1 eviction priority, and `.volatile` cannot be combined with either of them. A cache policy
// ("createpolicy") sets the L2 eviction priority.
#include "GlobalAccess.h"

#include "Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::conversion {

Value emitCachePolicy(OpBuilder &builder, Location loc, EvictionPolicy evict, const target::GpuTarget &gpu) {
  if (evict == EvictionPolicy::normal || gpu.capability < 80)
    return {};
  StringRef priority = evict == EvictionPolicy::first ? "evict_first" : "evict_last";
  return emitPtx(builder, loc,
                 {.text = ("createpolicy.fractional.L2::" + priority + ".b64 $0, 1.0;").str(),
                  .results = {builder.getI64Type()},
                  .hasSideEffects = false})
      .front();
}

Value emitAnd(OpBuilder &builder, Location loc, Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AndIOp::create(builder, loc, a, b);
}

SmallVector<Value> emitWhere(OpBuilder &builder, Location loc, Value predicate, ValueRange otherwise,
                             llvm::function_ref<SmallVector<Value>()> emit) {
  if (!predicate)
    return emit();
  auto branch = scf::IfOp::create(builder, loc, otherwise.getTypes(), predicate, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto fill = [&](Block *block, llvm::function_ref<SmallVector<Value>()> emitValues) {
    block->clear(); // removes the implicit yield of a branch without results
    builder.setInsertionPointToStart(block);
    scf::YieldOp::create(builder, loc, emitValues());
  };
  fill(branch.thenBlock(), emit);
  fill(branch.elseBlock(), [&] { return SmallVector<Value>(otherwise); });
  return SmallVector<Value>(branch.getResults());
}

Value dropTrue(Value mask) {
  return mask && matchPattern(mask, m_One()) ? Value() : mask;
}

Type GlobalAccess::vectorType() const {
  return format.count == 1 ? wordType() : VectorType::get(format.count, wordType());
}

std::string GlobalAccess::mnemonic(StringRef name) const {
  std::string text = name.str() + (hints.isVolatile ? ".volatile.global" : hints.covers ? ".weak.global" : ".global");
  if (!hints.isVolatile && hints.cache != CacheModifier::none)
    text += "." + stringifyCacheModifier(hints.cache).str();
  else if (!hints.isVolatile && hints.evict != EvictionPolicy::normal)
    text += hints.evict == EvictionPolicy::first ? ".L1::evict_first" : ".L1::evict_last";
  if (!hints.isVolatile && hints.evict != EvictionPolicy::normal && gpu.capability >= 80)
    text += ".L2::cache_hint";
  if (format.count > 1)
    text += ".v" + std::to_string(format.count);
  return text + ".b" + std::to_string(format.bits);
}

void GlobalAccess::addPolicy(SmallVectorImpl<Value> &operands) {
  if (hints.isVolatile)
    return;
  if (Value policy = emitCachePolicy(builder, loc, hints.evict, gpu))
    operands.push_back(policy);
}

/// Returns ", $n" for each operand from `first` on.
static std::string furtherOperands(size_t first, size_t end) {
  std::string text;
  for (size_t index = first; index < end; ++index)
    text += ", $" + std::to_string(index);
  return text;
}

SmallVector<Value> GlobalAccess::load(Value pointer, Value predicate, ValueRange other) {
  if (!predicate && hints.isPlain()) {
    Value value = LLVM::LoadOp::create(builder, loc, vectorType(), pointer, format.bytes(), hints.isVolatile);
    if (format.count == 1)
      return {value};
    SmallVector<Value> words;
    for (unsigned index = 0; index < format.count; ++index)
      words.push_back(LLVM::ExtractElementOp::create(
          builder, loc, value, arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), index)));
    return words;
  }
  // PTX has no 8-bit registers.
  bool isByte = format.bits == 8;
  Type registerType = isByte ? builder.getI16Type() : wordType();
  PtxStatement statement;
  statement.results.assign(format.count, registerType);
  statement.operands.push_back(pointer);
  addPolicy(statement.operands);
  size_t end = format.count + statement.operands.size();
  statement.text = mnemonic("ld") + " " + ptxVector(0, format.count) + ", [$" + std::to_string(format.count) + "]" +
                   furtherOperands(format.count + 1, end) + ";";
  if (predicate) {
    statement.operands.push_back(predicate);
    statement.text = "@$" + std::to_string(end) + " " + statement.text;
    for (Value word : other)
      statement.initial.push_back(isByte ? arith::ExtUIOp::create(builder, loc, registerType, word).getResult() : word);
  }
  SmallVector<Value> words = emitPtx(builder, loc, statement);
  if (isByte)
    words.front() = arith::TruncIOp::create(builder, loc, wordType(), words.front());
  return words;
}

void GlobalAccess::store(Value pointer, Value predicate, ValueRange words) {
  if (!predicate && hints.isPlain()) {
    Value value = words.front();
    if (format.count > 1) {
      value = LLVM::UndefOp::create(builder, loc, vectorType());
      for (auto [index, word] : llvm::enumerate(words))
        value = LLVM::InsertElementOp::create(builder, loc, value, word,
                                              arith::ConstantIntOp::create(builder, loc, builder.getI32Type(), index));
    }
    LLVM::StoreOp::create(builder, loc, value, pointer, format.bytes(), hints.isVolatile);
    return;
  }
  PtxStatement statement;
  statement.operands.push_back(pointer);
  for (Value word : words)
    statement.operands.push_back(
        format.bits == 8 ? arith::ExtUIOp::create(builder, loc, builder.getI16Type(), word).getResult() : word);
  size_t policy = statement.operands.size();
  addPolicy(statement.operands);
  statement.text = mnemonic("st") + " [$0], " + ptxVector(1, format.count) +
                   furtherOperands(policy, statement.operands.size()) + ";";
  if (predicate) {
    statement.text = "@$" + std::to_string(statement.operands.size()) + " " + statement.text;
    statement.operands.push_back(predicate);
  }
  emitPtx(builder, loc, statement);
}

} // namespace tile::conversion
