// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: libdevice functions on bits, built from operations of the language.
//
//   hadd(x, y)   ==>   ((int64)x + (int64)y) >> 1          ldexp(x, n)   ==>   x * 2^a * 2^b * 2^c,  a + b + c = n
//
// The integer functions take 32-bit operands, as in CUDA; the operands are unsigned if the first one is.

#include "Frontend/Emit/Builtins.h"
#include "Frontend/Emit/EmitExtern.h"

using namespace mlir;

namespace tile::frontend {

namespace {

/// Emits operations at one source location.
struct Arithmetic {
  Emitter &sema;
  SourceRange range;

  SymValue add(const SymValue &x, const SymValue &y) { return sema.binary(BinaryOp::Add, x, y, range); }
  SymValue sub(const SymValue &x, const SymValue &y) { return sema.binary(BinaryOp::Sub, x, y, range); }
  SymValue mul(const SymValue &x, const SymValue &y) { return sema.binary(BinaryOp::Mult, x, y, range); }
  SymValue shl(const SymValue &x, const SymValue &n) { return sema.binary(BinaryOp::LShift, x, n, range); }
  SymValue shr(const SymValue &x, const SymValue &n) { return sema.binary(BinaryOp::RShift, x, n, range); }
  SymValue both(const SymValue &x, const SymValue &y) { return sema.binary(BinaryOp::BitAnd, x, y, range); }
  SymValue either(const SymValue &x, const SymValue &y) { return sema.binary(BinaryOp::BitOr, x, y, range); }
  SymValue cast(const SymValue &x, DType type) { return sema.cast(x, type, range); }
  SymValue bitcast(const SymValue &x, DType type) { return sema.bitcast(x, type, range); }
  SymValue select(CompareOp op, const SymValue &x, const SymValue &y, const SymValue &a, const SymValue &b) {
    return sema.select(sema.compare(op, x, y, range), a, b, range);
  }
};

/// Returns 2^n as fp64, for -1022 <= n <= 1023.
SymValue powerOfTwo(Arithmetic at, const SymValue &n) {
  SymValue exponent = at.add(at.cast(n, Scalar::Int64), constant(1023));
  return at.bitcast(at.shl(exponent, constant(52)), Scalar::Float64);
}

/// Returns x times 2^n in fp64, rounded once: only the last multiplication can have a nonzero subnormal result.
SymValue scale(Arithmetic at, SymValue x, SymValue n) {
  for (int step = 0; step < 2; ++step) {
    SymValue down = at.select(CompareOp::Lt, n, constant(-1022), constant(-969), constant(0));
    SymValue part = at.select(CompareOp::Gt, n, constant(1023), constant(1023), down);
    x = at.mul(x, powerOfTwo(at, part));
    n = at.sub(n, part);
  }
  n = at.sema.minimumOrMaximum(false, n, constant(1023), false, at.range);
  n = at.sema.minimumOrMaximum(true, n, constant(-1022), false, at.range);
  return at.mul(x, powerOfTwo(at, n));
}

/// Converts operands to 32-bit integers of one shape: int32, or uint32 if the first is unsigned. Returns false after an
/// error.
bool wordOperands(BuiltinCall &call, std::vector<SymValue> &words) {
  Emitter &sema = call.sema;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    SymValue operand = call.tensor(i);
    if (operand.isError())
      return false;
    if (!operand.type.isInt() || operand.type.bits() > 32)
      return sema.error(Diag::integer_operands, call.rangeOf(i),
                        {std::string(call.info.name), "integers of at most 32 bits", describe(operand)}),
             false;
    DType type = words.empty() ? (operand.type.isUnsigned() ? Scalar::UInt32 : Scalar::Int32) : words[0].type;
    words.push_back(sema.cast(operand, type, call.range));
  }
  for (size_t i = 1; i < words.size(); ++i)
    if (!sema.broadcastTogether(words[0], words[i], call.range))
      return false;
  for (SymValue &word : words)
    word = sema.broadcastTo(word, words[0].shape(), call.range);
  return true;
}

} // namespace

/// Reverses the bits by swapping halves of ever smaller groups.
SymValue emitBitReverse(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.tensor(0);
  if (x.isError())
    return {};
  if (!x.type.isInt() || x.type.bits() < 32)
    return sema.error(Diag::integer_operands, call.range,
                      {std::string(call.info.name), "32- or 64-bit integers", describe(x)});
  Arithmetic at{sema, call.range};
  DType type = x.type, bits = type.bits() == 64 ? Scalar::UInt64 : Scalar::UInt32;
  uint64_t mask = type.bits() == 64 ? ~uint64_t(0) : ~uint32_t(0);
  uint64_t all = mask;
  x = at.bitcast(x, bits);
  for (unsigned half = type.bits() / 2; half > 0; half /= 2) {
    mask = (mask ^ (mask << half)) & all; // the lower half of each group
    SymValue low = at.shl(at.both(x, constant(mask)), constant(half));
    x = at.either(at.both(at.shr(x, constant(half)), constant(mask)), low);
  }
  return at.bitcast(x, type);
}

/// Selects four of the eight bytes of y:x, by the lower three bits of the nibbles of the selector.
SymValue emitBytePermute(Emitter &sema, BuiltinCall &call) {
  std::vector<SymValue> words;
  if (!wordOperands(call, words))
    return {};
  Arithmetic at{sema, call.range};
  auto wide = [&](const SymValue &word) { return at.cast(at.bitcast(word, Scalar::UInt32), Scalar::UInt64); };
  SymValue bytes = at.either(at.shl(wide(words[1]), constant(32)), wide(words[0]));
  SymValue selector = wide(words[2]), result;
  for (int byte = 0; byte < 4; ++byte) {
    SymValue place = at.shl(at.both(at.shr(selector, constant(4 * byte)), constant(7)), constant(3));
    SymValue chosen = at.shl(at.both(at.shr(bytes, place), constant(255)), constant(8 * byte));
    result = byte == 0 ? chosen : at.either(result, chosen);
  }
  return at.bitcast(at.cast(result, Scalar::UInt32), words[0].type);
}

/// Emits mul24, sad, hadd and rhadd in 64 bits.
SymValue emitWordArithmetic(Emitter &sema, BuiltinCall &call) {
  std::vector<SymValue> words;
  if (!wordOperands(call, words))
    return {};
  Arithmetic at{sema, call.range};
  StringRef name = StringRef(call.info.name).substr(StringRef("libdevice.").size());
  DType type = words[0].type;
  SymValue x = at.cast(words[0], Scalar::Int64), y = at.cast(words[1], Scalar::Int64), result;
  if (name == "mul24") {
    auto lower = [&](const SymValue &word) { return at.shr(at.shl(word, constant(8)), constant(8)); };
    return at.mul(lower(words[0]), lower(words[1]));
  }
  if (name == "sad") {
    SymValue difference = at.sub(x, y), opposite = at.sub(y, x);
    result = at.select(CompareOp::Gt, x, y, difference, opposite);
    return at.add(at.cast(result, type), words[2]);
  }
  result = at.add(x, y);
  return at.cast(at.shr(name == "rhadd" ? at.add(result, constant(1)) : result, constant(1)), type);
}

/// Splits a 64-bit value into words, or joins two words.
SymValue emitDoubleWords(Emitter &sema, BuiltinCall &call) {
  Arithmetic at{sema, call.range};
  if (StringRef(call.info.name).ends_with("hiloint2double")) {
    std::vector<SymValue> words;
    if (!wordOperands(call, words))
      return {};
    auto wide = [&](const SymValue &word) { return at.cast(at.bitcast(word, Scalar::UInt32), Scalar::UInt64); };
    return at.bitcast(at.either(at.shl(wide(words[0]), constant(32)), wide(words[1])), Scalar::Float64);
  }
  SymValue x = call.tensor(0);
  if (x.isError())
    return {};
  SymValue bits = at.bitcast(at.cast(x, Scalar::Float64), Scalar::Int64);
  bool isUpper = StringRef(call.info.name).ends_with("double2hiint");
  return at.cast(isUpper ? at.shr(bits, constant(32)) : bits, Scalar::Int32);
}

/// Emits ldexp and scalbn: x times 2^n.
SymValue emitScaleByPower(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.tensor(0), n = call.tensor(1);
  if (x.isError() || n.isError())
    return {};
  if (!n.type.isInt())
    return sema.error(Diag::integer_operands, call.rangeOf(1),
                      {std::string(call.info.name), "an integer exponent", describe(n)});
  Arithmetic at{sema, call.range};
  DType type = x.type.is(Scalar::Float64) ? Scalar::Float64 : Scalar::Float32;
  SymValue wide = at.cast(at.cast(x, type), Scalar::Float64);
  return at.cast(scale(at, wide, at.cast(n, Scalar::Int32)), type);
}

/// Returns the exponent of x as an integer: the smallest integer for 0 and NaN, and the largest for infinities.
SymValue emitIlogb(Emitter &sema, BuiltinCall &call) {
  SymValue x = call.tensor(0);
  SymValue exponent = x.isError() ? x : callValues(call, "libdevice.logb", {x});
  if (exponent.isError())
    return {};
  Arithmetic at{sema, call.range};
  constexpr int32_t least = INT32_MIN, greatest = INT32_MAX;
  constexpr int64_t bound = 4096; // larger than any exponent
  SymValue finite = sema.minimumOrMaximum(true, exponent, constant(-bound), false, call.range);
  finite = at.cast(sema.minimumOrMaximum(false, finite, constant(bound), false, call.range), Scalar::Int32);
  finite = at.select(CompareOp::GtE, exponent, constant(bound), constant(greatest), finite);
  return at.select(CompareOp::Gt, exponent, constant(-bound), finite, constant(least)); // false for NaN
}

/// Emits norm4d and rnorm4d: computes the norm of three operands, then the norm of that and the fourth operand.
SymValue emitNorm4d(Emitter &, BuiltinCall &call) {
  std::vector<SymValue> operands;
  if (!floatOperands(call, operands))
    return {};
  SymValue three = callValues(call, "libdevice.norm3d", {operands[0], operands[1], operands[2]});
  bool isReciprocal = StringRef(call.info.name).ends_with("rnorm4d");
  return three.isError()
             ? three
             : callValues(call, isReciprocal ? "libdevice.rhypot" : "libdevice.hypot", {three, operands[3]});
}

/// Emits 10 to the power of x through 2^x, like CUDA's fast variant.
SymValue emitFastExp10(Emitter &sema, BuiltinCall &call) {
  std::vector<SymValue> operands;
  if (!floatOperands(call, operands))
    return {};
  Arithmetic at{sema, call.range};
  constexpr double log2Of10 = 3.321928094887362;
  return callValues(call, "exp2", {at.mul(operands[0], SymValue::makeConstant(log2Of10))});
}

} // namespace tile::frontend
