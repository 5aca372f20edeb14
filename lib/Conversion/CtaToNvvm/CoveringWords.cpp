// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A barrel shifter of eight words: by two words, by one, and by bytes (PTX ISA, "shf"); see CoveringWords.h.
#include "CoveringWords.h"
#include "EmitLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::conversion {

constexpr int64_t accessBytes = 16;

static Value roundDown(OpBuilder &builder, Location loc, Value address, Type pointerType) {
  Value mask = arith::ConstantIntOp::create(builder, loc, address.getType(), -accessBytes);
  Value down = arith::AndIOp::create(builder, loc, address, mask);
  return LLVM::IntToPtrOp::create(builder, loc, pointerType, down, /*dereferenceable=*/{});
}

CoveringWords CoveringWords::load(OpBuilder &builder, Location loc, GlobalAccess &access, Value pointer,
                                  Value predicate, ValueRange other) {
  Value address = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(), pointer);
  // The index of the chunk that contains the last wanted byte.
  Value last = arith::AddIOp::create(builder, loc, address,
                                     arith::ConstantIntOp::create(builder, loc, address.getType(), accessBytes - 1));
  SmallVector<Value> values;
  for (Value within : {address, last})
    llvm::append_range(values, access.load(roundDown(builder, loc, within, pointer.getType()), predicate, other));
  Value low = arith::TruncIOp::create(builder, loc, builder.getI32Type(), address);
  Value offset = arith::AndIOp::create(builder, loc, low, emitI32(builder, loc, accessBytes - 1));
  // If `other` is all zeros, it may be shifted as well.
  if (predicate && !llvm::all_of(other, [](Value word) { return matchPattern(word, m_Zero()); }))
    offset = arith::SelectOp::create(builder, loc, predicate, offset, emitI32(builder, loc, 0));
  values.push_back(offset);
  return CoveringWords(values);
}

CoveringWords CoveringWords::of(OpBuilder &builder, Location loc, ValueRange words) {
  SmallVector<Value> values(words);
  values.resize(numValues, emitI32(builder, loc, 0));
  return CoveringWords(values);
}

SmallVector<Value> CoveringWords::shift(OpBuilder &builder, Location loc) const {
  SmallVector<Value> words(ArrayRef(all).drop_back());
  Value offset = all.back();
  for (unsigned step : {2, 1}) {
    Value bit = arith::AndIOp::create(builder, loc, offset, emitI32(builder, loc, step * 4));
    Value isSet = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bit, emitI32(builder, loc, 0));
    // Shifts only as many words as the following steps can still reach.
    for (unsigned index = 0; index < numWords / 2 + step; ++index)
      words[index] = arith::SelectOp::create(builder, loc, isSet, words[index + step], words[index]);
  }
  // the shift count is taken modulo 32
  Value bits = arith::ShLIOp::create(builder, loc, offset, emitI32(builder, loc, 3));
  SmallVector<Value> shifted;
  for (unsigned index = 0; index < numWords / 2; ++index)
    shifted.push_back(LLVM::FshrOp::create(builder, loc, words[index + 1], words[index], bits));
  return shifted;
}

} // namespace tile::conversion
