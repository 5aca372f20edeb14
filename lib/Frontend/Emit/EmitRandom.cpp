// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: counter-based random numbers (Philox 4x32-10; Salmon et al., "Parallel Random Numbers: As Easy as 1, 2,
// 3").
//
// The bits equal Triton's, because a backward pass must reproduce the same mask. The seed is the key (low and high
// word), and the offset is the counter. 64-bit counters use the 64-bit variant.

#include "Frontend/Emit/Builtins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::frontend {

namespace {

SymValue number(uint64_t value) {
  return SymValue::makeConstant(Int128(value));
}

/// Returns the high half of the product of two integers of one type.
SymValue multiplyHigh(BuiltinCall &call, SymValue left, SymValue right) {
  Emitter &sema = call.sema;
  if (!sema.unify(left, right, /*isDivision=*/false, call.range))
    return {};
  if (!left.type.isInt() || left.type.bits() < 32)
    return sema.error(Diag::integer_operands, call.range,
                      {"umulhi", "32- or 64-bit integers", describe(left) + " and " + describe(right)});
  Location loc = sema.location(call.range);
  mlir::Value high = left.type.isUnsigned()
                         ? arith::MulUIExtendedOp::create(sema.builder, loc, left.value, right.value).getHigh()
                         : arith::MulSIExtendedOp::create(sema.builder, loc, left.value, right.value).getHigh();
  return SymValue::makeTensor(high, left.type);
}

using Counter = std::array<SymValue, 4>;

/// Multipliers and key increments for words of 32 or 64 bits.
struct PhiloxConstants {
  uint64_t multiplierA, multiplierB, keyA, keyB;
};
constexpr PhiloxConstants words32{0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85};
constexpr PhiloxConstants words64{0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B};

Counter philoxRounds(BuiltinCall &call, Counter c, SymValue k0, SymValue k1, int64_t rounds) {
  Emitter &sema = call.sema;
  auto op = [&](BinaryOp kind, const SymValue &a, const SymValue &b) { return sema.binary(kind, a, b, call.range); };
  DType type = c[0].type;
  const PhiloxConstants &constants = type.bits() == 32 ? words32 : words64;
  SymValue a = sema.makeNumber(number(constants.multiplierA).constant, type, call.range);
  SymValue b = sema.makeNumber(number(constants.multiplierB).constant, type, call.range);
  SymValue stepA = sema.makeNumber(number(constants.keyA).constant, type, call.range);
  SymValue stepB = sema.makeNumber(number(constants.keyB).constant, type, call.range);
  for (int64_t round = 0; round < rounds; ++round) {
    SymValue c0 = c[0], c2 = c[2];
    c[0] = op(BinaryOp::BitXor, op(BinaryOp::BitXor, multiplyHigh(call, b, c2), c[1]), k0);
    c[2] = op(BinaryOp::BitXor, op(BinaryOp::BitXor, multiplyHigh(call, a, c0), c[3]), k1);
    c[1] = op(BinaryOp::Mult, b, c2);
    c[3] = op(BinaryOp::Mult, a, c0);
    k0 = op(BinaryOp::Add, k0, stepA);
    k1 = op(BinaryOp::Add, k1, stepB);
  }
  return c;
}

/// Returns n_rounds. Each round is emitted inline, so the number is limited, but to far more than the usual 10.
std::optional<int64_t> roundsOf(BuiltinCall &call, size_t index) {
  constexpr int64_t most = 128;
  std::optional<int64_t> rounds = call.integer(index);
  if (rounds && *rounds > most) {
    call.sema.error(Diag::too_many_rounds, call.rangeOf(index), {std::to_string(*rounds), std::to_string(most)});
    return std::nullopt;
  }
  return rounds;
}

/// Returns an integer of at most 64 bits; an error value after a message.
SymValue integerOperand(BuiltinCall &call, size_t index) {
  SymValue value = call.tensor(index);
  if (value.isError() || (value.type.isInt() && !value.type.isBool()))
    return value;
  return call.sema.error(Diag::integer_operands, call.rangeOf(index),
                         {std::string(call.info.name), "integers", describe(value)});
}

std::optional<Counter> philox(BuiltinCall &call, const SymValue &seedValue, Counter c, int64_t rounds) {
  Emitter &sema = call.sema;
  SymValue seed = sema.cast(seedValue, Scalar::UInt64, call.range);
  DType word = c[0].type.bits() == 32 ? Scalar::UInt32 : Scalar::UInt64;
  SymValue low = sema.cast(seed, word, call.range);
  SymValue high = word.bits() == 32
                      ? sema.cast(sema.binary(BinaryOp::RShift, seed, number(32), call.range), word, call.range)
                      : sema.makeNumber(number(0).constant, word, call.range);
  for (SymValue &part : c) {
    part = sema.cast(part, word, call.range);
    if (part.isError() || !sema.broadcastTogether(part, c[0], call.range))
      return std::nullopt;
  }
  Counter result = philoxRounds(call, c, low, high, rounds);
  for (const SymValue &part : result)
    if (part.isError())
      return std::nullopt;
  return result;
}

/// Returns four words for each offset, from the arguments (seed, offset, n_rounds).
std::optional<Counter> fourWords(BuiltinCall &call) {
  Emitter &sema = call.sema;
  SymValue seed = integerOperand(call, 0), offset = integerOperand(call, 1);
  std::optional<int64_t> rounds = roundsOf(call, 2);
  if (seed.isError() || offset.isError() || !rounds)
    return std::nullopt;
  SymValue low = sema.cast(offset, Scalar::UInt32, call.range);
  SymValue zero = sema.makeSplat(number(0).constant, Scalar::UInt32, low.shape(), call.range);
  SymValue high = zero;
  if (offset.type.bits() > 32)
    high = sema.cast(sema.binary(BinaryOp::RShift, offset, number(32), call.range), Scalar::UInt32, call.range);
  return philox(call, seed, {low, high, zero, zero}, *rounds);
}

/// Maps all bit patterns to [0, 1) by scaling the magnitude of the signed integer.
SymValue toUniform(BuiltinCall &call, const SymValue &bits) {
  Emitter &sema = call.sema;
  if (bits.isError())
    return {};
  bool isWide = bits.type.bits() == 64;
  SymValue x = sema.bitcast(bits, isWide ? Scalar::Int64 : Scalar::Int32, call.range);
  SymValue isNegative = sema.compare(CompareOp::Lt, x, number(0), call.range);
  x = sema.select(isNegative, sema.unary(UnaryOp::Invert, x, call.range), x, call.range);
  // Slightly less than 2^-31 (2^-63), so that the largest magnitude stays below 1.
  SymValue scale = SymValue::makeConstant(isWide ? 1.0842020432385337e-19 : 4.6566127342e-10);
  return sema.binary(BinaryOp::Mult, sema.cast(x, Scalar::Float32, call.range), scale, call.range);
}

/// Maps two uniform random numbers to two independent normally distributed numbers (Box-Muller transform).
SymValue toNormal(BuiltinCall &call, SymValue u1, const SymValue &u2) {
  Emitter &sema = call.sema;
  if (u1.isError() || u2.isError())
    return {};
  u1 = sema.minimumOrMaximum(true, u1, SymValue::makeConstant(1.0e-7), /*propagateNan=*/false, call.range);
  SymValue angle = sema.binary(BinaryOp::Mult, SymValue::makeConstant(6.283185307179586), u2, call.range);
  SymValue log = callValues(call, "log", {u1});
  SymValue radius =
      callValues(call, "sqrt", {sema.binary(BinaryOp::Mult, SymValue::makeConstant(-2.0), log, call.range)});
  return SymValue::makeTuple({sema.binary(BinaryOp::Mult, radius, callValues(call, "cos", {angle}), call.range),
                              sema.binary(BinaryOp::Mult, radius, callValues(call, "sin", {angle}), call.range)});
}

} // namespace

SymValue emitMulhi(Emitter &, BuiltinCall &call) {
  return multiplyHigh(call, call.tensor(0), call.tensor(1));
}

/// Emits umulhi, which treats the operands as unsigned, whatever their types.
SymValue emitUmulhi(Emitter &sema, BuiltinCall &call) {
  SymValue left = call.tensor(0), right = call.tensor(1);
  if (left.isError() || right.isError() || !sema.unify(left, right, /*isDivision=*/false, call.range))
    return {};
  DType type = left.type;
  if (!type.isInt() || type.bits() < 32)
    return multiplyHigh(call, left, right); // reports the error
  DType bits = type.bits() == 32 ? Scalar::UInt32 : Scalar::UInt64;
  SymValue high = multiplyHigh(call, sema.bitcast(left, bits, call.range), sema.bitcast(right, bits, call.range));
  return high.isError() ? high : sema.bitcast(high, type, call.range);
}

SymValue emitPhilox(Emitter &, BuiltinCall &call) {
  Counter c;
  SymValue seed = integerOperand(call, 0);
  std::optional<int64_t> rounds = roundsOf(call, 5);
  if (seed.isError() || !rounds)
    return {};
  for (size_t i = 0; i < 4; ++i)
    if ((c[i] = integerOperand(call, i + 1)).isError())
      return {};
  std::optional<Counter> result = philox(call, seed, c, *rounds);
  return result ? SymValue::makeTuple({result->begin(), result->end()}) : SymValue();
}

/// Emits the rounds on the words of the counter and of the key, all of one type.
SymValue emitPhiloxRounds(Emitter &sema, BuiltinCall &call) {
  std::array<SymValue, 6> words;
  std::optional<int64_t> rounds = roundsOf(call, 6);
  for (size_t i = 0; i < words.size(); ++i)
    if ((words[i] = integerOperand(call, i)).isError())
      return {};
  DType type = words[0].type;
  if (!type.is(Scalar::UInt32) && !type.is(Scalar::UInt64))
    return sema.error(Diag::integer_operands, call.range, {"philox_impl", "uint32 or uint64", describe(words[0])});
  for (SymValue &word : words)
    if ((word = sema.cast(word, type, call.range)).isError() || !sema.broadcastTogether(word, words[0], call.range))
      return {};
  if (!rounds)
    return {};
  Counter result = philoxRounds(call, {words[0], words[1], words[2], words[3]}, words[4], words[5], *rounds);
  bool isBad = llvm::any_of(result, [](const SymValue &part) { return part.isError(); });
  return isBad ? SymValue() : SymValue::makeTuple({result.begin(), result.end()});
}

SymValue emitRandint4x(Emitter &, BuiltinCall &call) {
  std::optional<Counter> words = fourWords(call);
  return words ? SymValue::makeTuple({words->begin(), words->end()}) : SymValue();
}

SymValue emitRandint(Emitter &, BuiltinCall &call) {
  std::optional<Counter> words = fourWords(call);
  return words ? (*words)[0] : SymValue();
}

SymValue emitRand(Emitter &, BuiltinCall &call) {
  std::optional<Counter> words = fourWords(call);
  return words ? toUniform(call, (*words)[0]) : SymValue();
}

SymValue emitRand4x(Emitter &, BuiltinCall &call) {
  std::optional<Counter> words = fourWords(call);
  std::vector<SymValue> uniform;
  for (size_t i = 0; words && i < 4; ++i)
    uniform.push_back(toUniform(call, (*words)[i]));
  return words ? SymValue::makeTuple(std::move(uniform)) : SymValue();
}

SymValue emitRandn(Emitter &, BuiltinCall &call) {
  std::optional<Counter> words = fourWords(call);
  SymValue pair = words ? toNormal(call, toUniform(call, (*words)[0]), toUniform(call, (*words)[1])) : SymValue();
  return pair.isError() ? SymValue() : pair.elements[0];
}

SymValue emitRandn4x(Emitter &, BuiltinCall &call) {
  std::optional<Counter> words = fourWords(call);
  std::vector<SymValue> out;
  for (size_t i = 0; words && i < 4; i += 2) {
    SymValue pair = toNormal(call, toUniform(call, (*words)[i]), toUniform(call, (*words)[i + 1]));
    if (pair.isError())
      return {};
    out.insert(out.end(), pair.elements.begin(), pair.elements.end());
  }
  return words ? SymValue::makeTuple(std::move(out)) : SymValue();
}

SymValue emitUniformFloat(Emitter &sema, BuiltinCall &call) {
  SymValue bits = integerOperand(call, 0);
  if (!bits.isError() && bits.type.bits() < 32)
    return sema.error(Diag::integer_operands, call.range,
                      {std::string(call.info.name), "32- or 64-bit integers", describe(bits)});
  return toUniform(call, bits);
}

SymValue emitNormalPair(Emitter &, BuiltinCall &call) {
  return toNormal(call, call.tensor(0), call.tensor(1));
}

} // namespace tile::frontend
