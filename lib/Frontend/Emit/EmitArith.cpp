// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Emits arithmetic: constants, casts, and binary operations with the promotion rules of Types.cpp.

#include "Frontend/Emit/Emitter.h"

#include "Frontend/Emit/EmitBits.h"
#include "Frontend/Syntax/Literals.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;

namespace tile::frontend {

Type Emitter::mlirType(DType type) {
  if (type.isPointer)
    return PtrType::get(&context, mlirType(type.pointee()));
  switch (type.scalar) {
  case Scalar::Float8E4M3:
    return Float8E4M3FNType::get(&context);
  case Scalar::Float8E5M2:
    return Float8E5M2Type::get(&context);
  case Scalar::Float16:
    return builder.getF16Type();
  case Scalar::BFloat16:
    return builder.getBF16Type();
  case Scalar::Float32:
    return builder.getF32Type();
  case Scalar::Float64:
    return builder.getF64Type();
  default:
    return builder.getIntegerType(type.bits());
  }
}

Type Emitter::mlirType(DType type, ArrayRef<int64_t> shape) {
  Type element = mlirType(type);
  return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
}

SymValue Emitter::makeNumber(const frontend::Value &number, DType type, SourceRange range) {
  return makeSplat(number, type, {}, range);
}

/// Returns the nearest number that the format represents; with `saturates`, the largest finite number instead of an
/// infinity.
static llvm::APFloat floatOf(const frontend::Value &number, const llvm::fltSemantics &format, bool saturates) {
  llvm::APFloat value(format);
  if (std::optional<Int128> integer = asInteger(number)) {
    uint64_t words[] = {static_cast<uint64_t>(static_cast<unsigned __int128>(*integer)),
                        static_cast<uint64_t>(static_cast<unsigned __int128>(*integer) >> 64)};
    value.convertFromAPInt(llvm::APInt(128, words), /*IsSigned=*/true, llvm::APFloat::rmNearestTiesToEven);
  } else {
    bool losesInfo = false;
    value = llvm::APFloat(asDouble(number).value_or(0.0));
    value.convert(format, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  }
  std::optional<double> exact = asDouble(number);
  if (saturates && exact && !std::isnan(*exact) && !value.isFinite())
    return llvm::APFloat::getLargest(format, *exact < 0);
  return value;
}

/// Creates a splat; integers wrap to the type, as in a cast.
SymValue Emitter::makeSplat(const frontend::Value &number, DType type, ArrayRef<int64_t> shape, SourceRange range) {
  if (type.is(Scalar::Float8E4B15))
    return cast(makeSplat(number, Scalar::Float16, shape, range), type, range);
  Type element = mlirType(type);
  TypedAttr attribute;
  if (auto floatType = dyn_cast<FloatType>(element)) {
    attribute = FloatAttr::get(element, floatOf(number, floatType.getFloatSemantics(), type.isFp8()));
  } else {
    std::optional<Int128> integer = asInteger(number);
    if (const double *real = std::get_if<double>(&number))
      integer = type.isBool() ? Int128(*real != 0) : static_cast<Int128>(*real);
    if (type.isBool())
      integer = *integer != 0;
    auto low = static_cast<uint64_t>(static_cast<unsigned __int128>(*integer));
    attribute = IntegerAttr::get(element, llvm::APInt(64, low).zextOrTrunc(type.bits()));
  }
  if (!shape.empty())
    attribute = DenseElementsAttr::get(llvm::cast<ShapedType>(mlirType(type, shape)), Attribute(attribute));
  return SymValue::makeTensor(arith::ConstantOp::create(builder, location(range), attribute), type);
}

SymValue Emitter::toTensor(const SymValue &value, SourceRange range) {
  if (value.isTensor() || value.isError())
    return value;
  if (value.isConstant() && isNumber(value.constant)) {
    if (std::optional<DType> type = scalarType(value.constant))
      return makeNumber(value.constant, *type, range);
    return error(Diag::integer_too_large, range, {"64"});
  }
  return error(Diag::not_a_number, range, {describe(value)});
}

//===------------------------------------------------------------------------------------------------------- casts

/// Casts between pointers, and between pointers and integers, which are byte addresses.
SymValue Emitter::castAddress(const SymValue &value, DType type, SourceRange range) {
  if (value.type == type)
    return value;
  if (value.type.isFloat() || type.isFloat())
    return error(Diag::pointer_cast, range, {describe(value), toString(type)});
  SymValue source = value.type.isPointer ? value : cast(value, Scalar::Int64, range);
  DType reached = type.isPointer ? type : DType(Scalar::Int64);
  Type result = mlirType(reached, source.shape());
  SymValue converted = source;
  if (result == source.value.getType())
    converted.type = reached;
  else
    converted = SymValue::makeTensor(AddressCastOp::create(builder, location(range), result, source.value), reached);
  return cast(converted, type, range);
}

SymValue Emitter::bitcast(const SymValue &value, DType type, SourceRange range) {
  if (value.type.isPointer || type.isPointer)
    return castAddress(value, type, range);
  if (value.type.bits() != type.bits())
    return error(
        Diag::bitcast_width, range,
        {toString(value.type), std::to_string(value.type.bits()), toString(type), std::to_string(type.bits())});
  Type result = mlirType(type, value.shape());
  if (result == value.value.getType())
    return SymValue::makeTensor(value.value, type);
  return SymValue::makeTensor(arith::BitcastOp::create(builder, location(range), result, value.value), type);
}

/// Converts to a narrower type. arith.truncf does not specify overflow, and its folders would keep an infinity of
/// f8E5M2 that is widened and converted back.
static mlir::Value narrowFloat(OpBuilder &builder, Location loc, mlir::Value value, Type result, bool towardsZero) {
  if (isa<Float8E5M2Type>(getElementTypeOf(result)))
    return RoundedOp::create(builder, loc, result, RoundedKind::cast, towardsZero ? Rounding::rz : Rounding::rn, value,
                             /*isUnsigned=*/false);
  auto rounding =
      towardsZero ? arith::RoundingModeAttr::get(builder.getContext(), arith::RoundingMode::toward_zero) : nullptr;
  return arith::TruncFOp::create(builder, loc, result, value, rounding, arith::FastMathFlagsAttr());
}

/// Converts between floating-point types: directly if one type can represent all values of the other, otherwise through
/// fp32.
static mlir::Value castFloats(OpBuilder &builder, Location loc, mlir::Value value, Type result, bool towardsZero) {
  auto source = llvm::cast<FloatType>(getElementTypeOf(value.getType()));
  auto target = llvm::cast<FloatType>(getElementTypeOf(result));
  if (source.getWidth() < target.getWidth())
    return arith::ExtFOp::create(builder, loc, result, value);
  if (source.getWidth() > target.getWidth())
    return narrowFloat(builder, loc, value, result, towardsZero);
  // Neither of fp16 and bf16, and neither of the two 8-bit formats, can represent all values of the other.
  Type wide = withElementType(result, builder.getF32Type());
  return narrowFloat(builder, loc, arith::ExtFOp::create(builder, loc, wide, value), result, towardsZero);
}

static mlir::Value castIntegers(OpBuilder &builder, Location loc, mlir::Value value, DType from, DType to,
                                Type result) {
  if (from.bits() == to.bits())
    return value;
  if (from.bits() > to.bits())
    return arith::TruncIOp::create(builder, loc, result, value);
  if (from.isUnsigned())
    return arith::ExtUIOp::create(builder, loc, result, value);
  return arith::ExtSIOp::create(builder, loc, result, value);
}

/// Returns the result of converting a float to an integer with PTX's cvt.rzi: the nearest integer in range; for NaN 0
/// or, if either type has 64 bits, 2^(bits - 1) (PTX ISA, "cvt": "NaN input results in").
static llvm::APInt integerOf(const llvm::APFloat &number, DType from, DType type) {
  llvm::APSInt integer(type.bits(), type.isUnsigned());
  bool isExact = false;
  number.convertToInteger(integer, llvm::APFloat::rmTowardZero, &isExact); // saturates
  if (number.isNaN() && (from.bits() == 64 || type.bits() == 64))
    return llvm::APInt::getSignedMinValue(type.bits());
  return integer;
}

/// Converts with rounding towards zero. arith and LLVM leave out-of-range values undefined, so constants are converted
/// here. 8-bit results are the low bits of a 16-bit conversion, the narrowest in PTX, so stored bytes match Triton's.
static SymValue castFloatToInteger(Emitter &sema, const SymValue &value, DType type, SourceRange range) {
  if (type.bits() < 16) {
    DType wide = type.isUnsigned() ? Scalar::UInt16 : Scalar::Int16;
    return sema.cast(castFloatToInteger(sema, value, wide, range), type, range);
  }
  Location loc = sema.location(range);
  Type result = sema.mlirType(type, value.shape());
  llvm::APFloat number(0.0);
  mlir::Value converted;
  if (matchPattern(value.value, m_ConstantFloat(&number))) {
    Type element = getElementTypeOf(result);
    TypedAttr attribute = IntegerAttr::get(element, integerOf(number, value.type, type));
    if (auto shaped = dyn_cast<ShapedType>(result))
      attribute = DenseElementsAttr::get(shaped, Attribute(attribute));
    converted = arith::ConstantOp::create(sema.builder, loc, attribute);
  } else if (type.isUnsigned()) {
    converted = arith::FPToUIOp::create(sema.builder, loc, result, value.value);
  } else {
    converted = arith::FPToSIOp::create(sema.builder, loc, result, value.value);
  }
  return SymValue::makeTensor(converted, type);
}

SymValue Emitter::cast(const SymValue &value, DType type, SourceRange range, bool truncateTowardsZero) {
  if (value.isError() || (value.type == type && value.isTensor()))
    return value;
  if (!value.isTensor())
    return error(Diag::not_a_number, range, {describe(value)});
  DType from = value.type;
  if (from.isPointer || type.isPointer)
    return castAddress(value, type, range);
  if (from.is(Scalar::Float8E4B15))
    return cast(halfOfLegacyFloat8(value, range), type, range, truncateTowardsZero);
  if (type.is(Scalar::Float8E4B15))
    return legacyFloat8OfHalf(cast(value, Scalar::Float16, range), range);
  Location loc = location(range);
  Type result = mlirType(type, value.shape());
  auto wrap = [&](mlir::Value converted) { return SymValue::makeTensor(converted, type); };
  if (type.isBool()) {
    SymValue zero = makeSplat(frontend::Value(Int128(0)), from, value.shape(), range);
    if (from.isFloat())
      return wrap(arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, value.value, zero.value));
    return wrap(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value.value, zero.value));
  }
  if (from.isFloat() && type.isFloat())
    return wrap(castFloats(builder, loc, value.value, result, truncateTowardsZero));
  if (from.isInt() && type.isInt())
    return wrap(castIntegers(builder, loc, value.value, from, type, result));
  if (from.isFloat())
    return castFloatToInteger(*this, value, type, range);
  // fp32 is exact in the range of 8-bit floats; larger values saturate.
  if (type.isFp8())
    return cast(cast(value, Scalar::Float32, range), type, range, truncateTowardsZero);
  if (from.isUnsigned())
    return wrap(arith::UIToFPOp::create(builder, loc, result, value.value));
  return wrap(arith::SIToFPOp::create(builder, loc, result, value.value));
}

//===------------------------------------------------------------------------------------------------- arithmetic

/// Checks that the type of a tensor can represent a constant operand.
static bool checkWeakRange(Emitter &sema, const SymValue &operand, DType type, SourceRange range) {
  if (!operand.isConstant() || !type.isInt())
    return true;
  std::optional<Int128> number = asInteger(operand.constant);
  if (!number)
    return true;
  if (*number < 0 && type.isUnsigned()) {
    sema.error(Diag::negative_unsigned, range, {toString(*number), toString(type)});
    return false;
  }
  if (*number >= minValue(type) && *number <= maxValue(type))
    return true;
  sema.error(Diag::literal_range, range,
             {toString(*number), toString(type), toString(minValue(type)), toString(maxValue(type))});
  return false;
}

bool Emitter::unify(SymValue &left, SymValue &right, bool isDivision, SourceRange range) {
  OperandType types[2];
  SymValue *operands[2] = {&left, &right};
  for (int i = 0; i < 2; ++i) {
    if (operands[i]->isError())
      return false;
    bool isWeak = operands[i]->isConstant();
    std::optional<DType> type = isWeak ? scalarType(operands[i]->constant) : operands[i]->type;
    if (!operands[i]->isTensor() && (!isWeak || !type)) {
      toTensor(*operands[i], range); // reports the type
      return false;
    }
    types[i] = {*type, isWeak};
  }
  if (types[0].type.isPointer || types[1].type.isPointer) {
    if (types[0].type == types[1].type)
      return broadcastTogether(left, right, range);
    error(Diag::operand_types, range, {describe(left), describe(right)});
    return false;
  }
  std::string reason;
  std::optional<DType> common = promote(types[0], types[1], isDivision, reason);
  if (!common) {
    error(Diag::no_common_type, range, {reason});
    return false;
  }
  warnLostWeakness(left, right, *common, isDivision, range);
  for (SymValue *operand : operands) {
    if (!checkWeakRange(*this, *operand, *common, range))
      return false;
    *operand = operand->isConstant() ? makeNumber(operand->constant, *common, range) : cast(*operand, *common, range);
  }
  return broadcastTogether(left, right, range);
}

/// Emits pointer + integer, integer + pointer, pointer - integer.
static SymValue emitPointerArithmetic(Emitter &sema, BinaryOp op, SymValue pointer, SymValue offset,
                                      SourceRange range) {
  bool isKnown = op == BinaryOp::Add || op == BinaryOp::Sub;
  if (!isKnown || !offset.type.isInt())
    return sema.error(Diag::pointer_arithmetic, range,
                      {std::string(spelling(op)), describe(pointer), describe(offset)});
  // Offsets are signed, so narrow unsigned offsets are widened to stay positive.
  if (offset.type.isBool())
    offset = sema.cast(offset, Scalar::Int32, range);
  else if (offset.type.isUnsigned() && offset.type.bits() < 64)
    offset = sema.cast(offset, Scalar::Int64, range);
  if (op == BinaryOp::Sub)
    offset = sema.unary(UnaryOp::Minus, offset, range);
  if (offset.isError() || !sema.broadcastTogether(pointer, offset, range))
    return {};
  mlir::Value sum = AddPtrOp::create(sema.builder, sema.location(range), pointer.value, offset.value);
  return SymValue::makeTensor(sum, pointer.type);
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp = SignedOp>
static SymValue emitNumeric(Emitter &sema, const SymValue &left, const SymValue &right, SourceRange range) {
  Location loc = sema.location(range);
  mlir::Value result;
  if (left.type.isFloat())
    result = FloatOp::create(sema.builder, loc, left.value, right.value);
  else if (left.type.isUnsigned())
    result = UnsignedOp::create(sema.builder, loc, left.value, right.value);
  else
    result = SignedOp::create(sema.builder, loc, left.value, right.value);
  // Unsigned integers wrap intentionally; the attribute exempts them from the interpreter's overflow check.
  if (left.type.isInt() && left.type.isUnsigned())
    result.getDefiningOp()->setAttr(unsignedAttrName, sema.builder.getUnitAttr());
  return SymValue::makeTensor(result, left.type);
}

static SymValue emitTrueDivision(Emitter &sema, SymValue left, SymValue right, SourceRange range) {
  if (!sema.unify(left, right, /*isDivision=*/true, range))
    return {};
  if (left.type.isInt()) {
    left = sema.cast(left, Scalar::Float32, range);
    right = sema.cast(right, Scalar::Float32, range);
  }
  mlir::Value quotient = arith::DivFOp::create(sema.builder, sema.location(range), left.value, right.value);
  return SymValue::makeTensor(quotient, left.type);
}

SymValue Emitter::binary(BinaryOp op, const SymValue &leftValue, const SymValue &rightValue, SourceRange range) {
  SymValue left = leftValue, right = rightValue;
  if (left.isError() || right.isError())
    return {};
  switch (op) {
  case BinaryOp::BitAnd:
  case BinaryOp::BitOr:
  case BinaryOp::BitXor:
  case BinaryOp::LShift:
  case BinaryOp::RShift:
    return emitBits(*this, op, left, right, range);
  case BinaryOp::Pow:
    return error(Diag::runtime_power, range);
  case BinaryOp::Div:
    return emitTrueDivision(*this, left, right, range);
  default:
    break;
  }
  bool leftPointer = left.isTensor() && left.type.isPointer, rightPointer = right.isTensor() && right.type.isPointer;
  if (leftPointer || rightPointer) {
    left = toTensor(left, range);
    right = toTensor(right, range);
    if (left.isError() || right.isError())
      return {};
    if (leftPointer && rightPointer)
      return error(Diag::pointer_arithmetic, range, {std::string(spelling(op)), describe(left), describe(right)});
    if (rightPointer && op == BinaryOp::Add)
      std::swap(left, right);
    else if (rightPointer)
      return error(Diag::pointer_arithmetic, range, {std::string(spelling(op)), describe(left), describe(right)});
    return emitPointerArithmetic(*this, op, left, right, range);
  }
  bool isDivision = op == BinaryOp::FloorDiv || op == BinaryOp::Mod;
  if (!unify(left, right, isDivision, range))
    return {};
  if (left.type.isFp8())
    return error(Diag::fp8_arithmetic, range, {toString(left.type)});
  switch (op) {
  case BinaryOp::Add:
    return emitNumeric<arith::AddFOp, arith::AddIOp>(*this, left, right, range);
  case BinaryOp::Sub:
    return emitNumeric<arith::SubFOp, arith::SubIOp>(*this, left, right, range);
  case BinaryOp::Mult:
    return emitNumeric<arith::MulFOp, arith::MulIOp>(*this, left, right, range);
  case BinaryOp::FloorDiv:
    if (left.type.isFloat())
      return error(Diag::integer_operands, range, {"//", "integers", describe(left) + " and " + describe(right)});
    if (isTile1())
      return floorDivision(/*isRemainder=*/false, left, right, range);
    return emitNumeric<arith::DivFOp, arith::DivSIOp, arith::DivUIOp>(*this, left, right, range);
  case BinaryOp::Mod:
    if (isTile1() && left.type.isInt())
      return floorDivision(/*isRemainder=*/true, left, right, range);
    return emitNumeric<arith::RemFOp, arith::RemSIOp, arith::RemUIOp>(*this, left, right, range);
  default:
    return error(Diag::no_matmul_operator, range);
  }
}

SymValue Emitter::unary(UnaryOp op, const SymValue &operand, SourceRange range) {
  if (operand.isError())
    return {};
  if (!operand.isTensor() || operand.type.isPointer || operand.type.isFp8())
    return error(Diag::unary_operand, range, {std::string(spelling(op)), describe(operand)});
  switch (op) {
  case UnaryOp::Plus:
    return operand;
  case UnaryOp::Minus: {
    SymValue zero = makeSplat(frontend::Value(Int128(0)), operand.type, operand.shape(), range);
    return emitNumeric<arith::SubFOp, arith::SubIOp>(*this, zero, operand, range);
  }
  case UnaryOp::Invert:
  case UnaryOp::Not: {
    bool isLegal = op == UnaryOp::Not ? operand.type.isBool() : operand.type.isInt();
    if (!isLegal)
      return error(op == UnaryOp::Not ? Diag::logical_operand : Diag::unary_operand, range,
                   {std::string(spelling(op)), describe(operand)});
    SymValue ones = makeSplat(frontend::Value(Int128(-1)), operand.type, operand.shape(), range);
    mlir::Value result = arith::XOrIOp::create(builder, location(range), operand.value, ones.value);
    return SymValue::makeTensor(result, operand.type);
  }
  }
  return {};
}

} // namespace tile::frontend
