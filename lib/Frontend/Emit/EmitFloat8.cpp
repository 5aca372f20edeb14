// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// fp8e4b15: a sign, four exponent bits with a bias of 15, three mantissa bits, no infinity and no NaN; at most 1.875.
//
// Neither MLIR nor any instruction supports this format, so values are stored as 8-bit integers. Dropping the top
// exponent bit and the seven low mantissa bits of an fp16 gives this format, so conversions to and from fp16 are
// shifts.

#include "Frontend/Emit/Emitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Operations on the bits of a value, as 16-bit integers.
class Bits {
public:
  Bits(Emitter &sema, const SymValue &value, SourceRange range) : sema(sema), shape(value.shape()), range(range) {}

  SymValue with(BinaryOp op, const SymValue &value, uint64_t operand) {
    SymValue number = sema.makeSplat(Value(Int128(operand)), Scalar::UInt16, shape, range);
    return sema.binary(op, value, number, range);
  }
  SymValue both(BinaryOp op, const SymValue &left, const SymValue &right) {
    return sema.binary(op, left, right, range);
  }

private:
  Emitter &sema;
  SmallVector<int64_t> shape;
  SourceRange range;
};

} // namespace

SymValue Emitter::halfOfLegacyFloat8(const SymValue &value, SourceRange range) {
  Bits bits(*this, value, range);
  SymValue code = cast(SymValue::makeTensor(value.value, Scalar::UInt8), Scalar::UInt16, range);
  SymValue magnitude = bits.with(BinaryOp::LShift, bits.with(BinaryOp::BitAnd, code, 0x7f), 7);
  SymValue sign = bits.with(BinaryOp::LShift, bits.with(BinaryOp::BitAnd, code, 0x80), 8);
  return bitcast(bits.both(BinaryOp::BitOr, magnitude, sign), Scalar::Float16, range);
}

/// Rounds to nearest even; larger values and NaN become the largest number.
SymValue Emitter::legacyFloat8OfHalf(const SymValue &value, SourceRange range) {
  if (value.isError())
    return {};
  Bits bits(*this, value, range);
  SymValue half = bitcast(value, Scalar::UInt16, range);
  SymValue magnitude = bits.with(BinaryOp::BitAnd, half, 0x7fff);
  SymValue odd = bits.with(BinaryOp::BitAnd, bits.with(BinaryOp::RShift, magnitude, 7), 1);
  SymValue rounded = bits.with(BinaryOp::Add, bits.both(BinaryOp::Add, magnitude, odd), 0x3f);
  SymValue largest = makeSplat(Value(Int128(0x7f)), Scalar::UInt16, value.shape(), range);
  SymValue code =
      minimumOrMaximum(false, bits.with(BinaryOp::RShift, rounded, 7), largest, /*propagateNan=*/false, range);
  SymValue sign = bits.with(BinaryOp::BitAnd, bits.with(BinaryOp::RShift, half, 8), 0x80);
  SymValue byte = cast(bits.both(BinaryOp::BitOr, code, sign), Scalar::UInt8, range);
  return byte.isError() ? SymValue() : SymValue::makeTensor(byte.value, Scalar::Float8E4B15);
}

} // namespace tile::frontend
