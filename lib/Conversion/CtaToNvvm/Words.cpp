// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs elements into memory words; see Words.h.
#include "Words.h"

#include "EmitLayout.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mlir;

namespace tile::conversion {

Type getRegisterType(Type element) {
  if (isa<PtrType>(element))
    return LLVM::LLVMPointerType::get(element.getContext(), globalSpace);
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(element.getContext(), 8);
  return element;
}

WordFormat wordsFor(Type element, unsigned count) {
  unsigned elementBits = 8 * getBytesInMemory(element), bits = elementBits * count;
  unsigned wordBits = std::max(elementBits, std::min(bits, 32u));
  return {wordBits, bits / wordBits, wordBits / elementBits};
}

/// Returns the type in which a register value is stored in memory: i8 for i1, the integer address for pointers.
static Type getMemoryType(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return IntegerType::get(type.getContext(), 64);
  return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : type;
}

SmallVector<Value> packWords(OpBuilder &builder, Location loc, ValueRange values, WordFormat format) {
  Type wordType = builder.getIntegerType(format.bits), memoryType = getMemoryType(values.front().getType());
  auto toMemory = [&](Value value) -> Value {
    if (value.getType() == memoryType)
      return value;
    if (isa<LLVM::LLVMPointerType>(value.getType()))
      return LLVM::PtrToIntOp::create(builder, loc, memoryType, value);
    return arith::ExtUIOp::create(builder, loc, memoryType, value);
  };
  SmallVector<Value> words;
  for (size_t first = 0; first < values.size(); first += format.elementsPerWord) {
    Value word = toMemory(values[first]);
    if (format.elementsPerWord > 1) {
      auto vectorType = VectorType::get(format.elementsPerWord, memoryType);
      Value vector = LLVM::UndefOp::create(builder, loc, vectorType);
      for (unsigned index = 0; index < format.elementsPerWord; ++index)
        vector = LLVM::InsertElementOp::create(builder, loc, vector, toMemory(values[first + index]),
                                               emitI32(builder, loc, index));
      word = vector;
    }
    if (word.getType() != wordType)
      word = LLVM::BitcastOp::create(builder, loc, wordType, word);
    words.push_back(word);
  }
  return words;
}

SmallVector<Value> unpackWords(OpBuilder &builder, Location loc, ValueRange words, Type element, WordFormat format) {
  Type registerType = getRegisterType(element), memoryType = getMemoryType(registerType);
  auto fromMemory = [&](Value value) -> Value {
    if (registerType == memoryType)
      return value;
    if (isa<LLVM::LLVMPointerType>(registerType))
      return LLVM::IntToPtrOp::create(builder, loc, registerType, value);
    // An i1 is true if its byte in memory is not 0.
    Value zero = arith::ConstantIntOp::create(builder, loc, memoryType, 0);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
  };
  SmallVector<Value> values;
  for (Value word : words) {
    Type type = format.elementsPerWord == 1 ? memoryType : VectorType::get(format.elementsPerWord, memoryType);
    if (word.getType() != type)
      word = LLVM::BitcastOp::create(builder, loc, type, word);
    if (format.elementsPerWord == 1) {
      values.push_back(fromMemory(word));
      continue;
    }
    for (unsigned index = 0; index < format.elementsPerWord; ++index)
      values.push_back(fromMemory(LLVM::ExtractElementOp::create(builder, loc, word, emitI32(builder, loc, index))));
  }
  return values;
}

} // namespace tile::conversion
