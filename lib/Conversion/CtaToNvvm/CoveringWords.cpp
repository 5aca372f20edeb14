// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A barrel shifter over eight words: shifts by two words, then by one word, then by bytes (PTX ISA, "shf"); see
// CoveringWords.h.
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
  // The address of the last wanted byte, which lies in the second chunk to read.
  Value last = arith::AddIOp::create(builder, loc, address,
                                     arith::ConstantIntOp::create(builder, loc, address.getType(), accessBytes - 1));
  SmallVector<Value> values;
  for (Value within : {address, last})
    llvm::append_range(values, access.load(roundDown(builder, loc, within, pointer.getType()), predicate, other));
  Value low = arith::TruncIOp::create(builder, loc, builder.getI32Type(), address);
  Value offset = arith::AndIOp::create(builder, loc, low, emitI32(builder, loc, accessBytes - 1));
  // Where the predicate is false, `other` must not be shifted. If all its words are 0, shifting does no harm.
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
    // Words beyond this range can no longer reach the result.
    for (unsigned index = 0; index < numWords / 2 + step; ++index)
      words[index] = arith::SelectOp::create(builder, loc, isSet, words[index + step], words[index]);
  }
  // The shift count is taken modulo 32.
  Value bits = arith::ShLIOp::create(builder, loc, offset, emitI32(builder, loc, 3));
  SmallVector<Value> shifted;
  for (unsigned index = 0; index < numWords / 2; ++index)
    shifted.push_back(LLVM::FshrOp::create(builder, loc, words[index + 1], words[index], bits));
  return shifted;
}

} // namespace tile::conversion
