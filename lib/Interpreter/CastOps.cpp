// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between numeric types. Float to integer rounds towards zero and saturates, as PTX `cvt.rzi` does. NaN
// gives 0 or, if either type has 64 bits, the integer with only the highest bit set. Integer to a small float rounds
// once: values go through double and round-to-odd. A bitcast uses the memory representation of the value.
#include "Interpreter/Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::interp {
namespace {

/// Reads integers from the frame as C++ integers; an i1 reads as 0 or 1 if it is unsigned, and as 0 or -1 if it is
/// signed.
struct Bit {};
template <typename From> struct Reader {
  using Stored = From;
  static From read(From value) { return value; }
};
template <> struct Reader<Bit> {
  using Stored = uint8_t;
  static int read(uint8_t value) { return -int(value); }
};

template <typename From, typename To, auto convert>
bool castElements(Machine &machine, const Instruction &instruction) {
  const auto *a = machine.at<typename Reader<From>::Stored>(instruction.in[0]);
  To *__restrict result = machine.at<To>(instruction.out[0]);
  int64_t count = machine.countOf(instruction);
  for (int64_t i = 0; i < count; ++i)
    result[i] = To(convert(Reader<From>::read(a[i])));
  if constexpr (std::is_same_v<To, float>)
    roundInPlace(instruction.kind, result, count);
  return true;
}

constexpr auto kSame = [](auto value) { return value; };
constexpr auto kLowBit = [](auto value) { return value & 1; };

/// Calls `fn` with a null pointer whose C++ type represents `kind`, read as signed or unsigned.
template <typename Fn> Execute forInteger(Kind kind, bool isSigned, Fn fn) {
  switch (kind) {
  case Kind::I1:
    return isSigned ? fn(static_cast<Bit *>(nullptr)) : fn(static_cast<uint8_t *>(nullptr));
  case Kind::I8:
    return isSigned ? fn(static_cast<int8_t *>(nullptr)) : fn(static_cast<uint8_t *>(nullptr));
  case Kind::I16:
    return isSigned ? fn(static_cast<int16_t *>(nullptr)) : fn(static_cast<uint16_t *>(nullptr));
  case Kind::I32:
    return isSigned ? fn(static_cast<int32_t *>(nullptr)) : fn(static_cast<uint32_t *>(nullptr));
  default:
    return isSigned ? fn(static_cast<int64_t *>(nullptr)) : fn(static_cast<uint64_t *>(nullptr));
  }
}

/// Extends or truncates an integer.
Execute integerKernel(Kind from, Kind to, bool isSigned) {
  return forInteger(from, isSigned, [&]<typename From>(From *) -> Execute {
    switch (to) {
    case Kind::I1:
      return castElements<From, uint8_t, kLowBit>;
    case Kind::I8:
      return castElements<From, uint8_t, kSame>;
    case Kind::I16:
      return castElements<From, uint16_t, kSame>;
    case Kind::I32:
      return castElements<From, uint32_t, kSame>;
    default:
      return castElements<From, uint64_t, kSame>;
    }
  });
}

/// Converts an integer to a float. An inexact result is rounded to odd, so that rounding it to fewer bits later is
/// correct.
constexpr auto kToOddFloat = [](auto value) {
  bool isNegative = value < 0;
  uint64_t magnitude = isNegative ? -uint64_t(value) : uint64_t(value);
  if (magnitude >> 53) {
    uint64_t dropped = magnitude & 0x7ff; // 64 - 53 bits
    magnitude = (magnitude - dropped) | (dropped ? 0x800 : 0);
  }
  return narrow(isNegative ? -double(magnitude) : double(magnitude), /*odd=*/true);
};

Execute integerToFloatKernel(Kind from, Kind to, bool isSigned) {
  return forInteger(from, isSigned, [&]<typename From>(From *) -> Execute {
    if (to == Kind::F64)
      return castElements<From, double, kSame>;
    if (to == Kind::F32)
      return castElements<From, float, kSame>;
    return castElements<From, float, kToOddFloat>;
  });
}

template <typename To> struct Saturate {
  template <typename T> To operator()(T value) const {
    // Both limits plus one are powers of two, so they are exact in float.
    constexpr T end = T(2) * T(To(1) << (std::numeric_limits<To>::digits - 1));
    if (value != value)
      return sizeof(T) == 8 || sizeof(To) == 8 ? To(To(1) << (8 * sizeof(To) - 1)) : To(0);
    if (value >= end)
      return std::numeric_limits<To>::max();
    if (value <= T(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return To(value);
  }
};
/// Saturates to i1: 0 and 1 unsigned, 0 and -1 signed, stored as 0 and 1 in both cases.
struct SaturateBit {
  bool isSigned;
  template <typename T> uint8_t operator()(T value) const { return isSigned ? value <= T(-1) : value >= T(1); }
};

template <typename From> Execute floatToIntegerKernel(Kind to, bool isSigned) {
  if (to == Kind::I1)
    return isSigned ? castElements<From, uint8_t, SaturateBit{true}> : castElements<From, uint8_t, SaturateBit{false}>;
  return forInteger(to, isSigned, [&]<typename To>(To *) -> Execute {
    if constexpr (std::is_same_v<To, Bit>)
      return nullptr; // handled above
    else
      return castElements<From, To, Saturate<To>{}>;
  });
}

bool truncateFloats(Machine &machine, const Instruction &instruction) {
  const float *a = machine.at<float>(instruction.in[0]);
  float *__restrict result = machine.at<float>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = truncateTo(instruction.kind, a[i]);
  return true;
}

bool truncateDoubles(Machine &machine, const Instruction &instruction) {
  const double *a = machine.at<double>(instruction.in[0]);
  float *__restrict result = machine.at<float>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = truncateTo(instruction.kind, narrow(a[i], /*odd=*/false));
  return true;
}

constexpr auto kNarrowOdd = [](double value) { return narrow(value, /*odd=*/true); };

/// Returns the bits of element `i` as stored in memory.
uint64_t bitsOf(const Machine &machine, size_t offset, Kind kind, int64_t i) {
  if (isSmallFloat(kind) || kind == Kind::F32)
    return encode(kind, machine.at<float>(offset)[i]);
  uint64_t bits = 0;
  std::memcpy(&bits, machine.at<char>(offset) + size_t(i) * bytesInFrame(kind), bytesInFrame(kind));
  return bits;
}

bool bitcast(Machine &machine, const Instruction &instruction) {
  Kind from = instruction.dataAs<Kind>(), to = instruction.kind;
  char *result = machine.at<char>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i) {
    uint64_t bits = bitsOf(machine, instruction.in[0], from, i);
    if (isSmallFloat(to))
      bits = std::bit_cast<uint32_t>(decode(to, uint32_t(bits)));
    std::memcpy(result + size_t(i) * bytesInFrame(to), &bits, bytesInFrame(to));
  }
  return true;
}

Kind fromKind(Compiler &compiler, Operation *op) {
  return compiler.slotOf(op->getOperand(0)).kind;
}
Kind toKind(Compiler &compiler, Operation *op) {
  return *compiler.kindOf(op->getResult(0).getType());
}

void addIntegerCast(HandlerTable &table, StringRef name, bool isSigned) {
  table[name] = [isSigned](Compiler &compiler, Operation *op) {
    compiler.emit(op, integerKernel(fromKind(compiler, op), toKind(compiler, op), isSigned));
    return true;
  };
}

void addIntegerToFloat(HandlerTable &table, StringRef name, bool isSigned) {
  table[name] = [isSigned](Compiler &compiler, Operation *op) {
    compiler.emit(op, integerToFloatKernel(fromKind(compiler, op), toKind(compiler, op), isSigned));
    return true;
  };
}

void addFloatToInteger(HandlerTable &table, StringRef name, bool isSigned) {
  table[name] = [isSigned](Compiler &compiler, Operation *op) {
    Kind to = toKind(compiler, op);
    compiler.emit(op, fromKind(compiler, op) == Kind::F64 ? floatToIntegerKernel<double>(to, isSigned)
                                                          : floatToIntegerKernel<float>(to, isSigned));
    return true;
  };
}

bool compileTruncF(Compiler &compiler, Operation *op) {
  arith::RoundingMode mode = cast<arith::TruncFOp>(op).getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
  if (mode != arith::RoundingMode::to_nearest_even && mode != arith::RoundingMode::toward_zero)
    return compiler.fail(op,
                         "the interpreter does not support rounding mode '" + arith::stringifyRoundingMode(mode) + "'");
  compiler.emit(
      op, floatCastKernel(fromKind(compiler, op), toKind(compiler, op), mode == arith::RoundingMode::toward_zero));
  return true;
}

} // namespace

Execute floatCastKernel(Kind from, Kind to, bool towardZero) {
  if (towardZero)
    return from == Kind::F64 ? truncateDoubles : truncateFloats;
  if (from == Kind::F64)
    return isSmallFloat(to) ? castElements<double, float, kNarrowOdd> : castElements<double, float, kSame>;
  return to == Kind::F64 ? castElements<float, double, kSame> : castElements<float, float, kSame>;
}

void registerCastOps(HandlerTable &table) {
  addIntegerCast(table, "arith.extsi", true);
  addIntegerCast(table, "arith.extui", false);
  addIntegerCast(table, "arith.trunci", false);
  addIntegerCast(table, "arith.index_cast", true);
  addIntegerCast(table, "arith.index_castui", false);
  addIntegerToFloat(table, "arith.sitofp", true);
  addIntegerToFloat(table, "arith.uitofp", false);
  addFloatToInteger(table, "arith.fptosi", true);
  addFloatToInteger(table, "arith.fptoui", false);
  table["arith.truncf"] = compileTruncF;
  table["arith.extf"] = [](Compiler &compiler, Operation *op) {
    compiler.emit(op, floatCastKernel(fromKind(compiler, op), toKind(compiler, op), /*towardZero=*/false));
    return true;
  };
  table["arith.bitcast"] = [](Compiler &compiler, Operation *op) {
    compiler.emit(op, bitcast).data = std::make_shared<const Kind>(fromKind(compiler, op));
    return true;
  };
}

} // namespace tile::interp
