// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point arithmetic that rounds only once: PTX ISA 9.7.3 (f32, f64), 9.7.4 (f16, bf16), 9.7.5 (f32 with f16 or
// bf16 operands).
#include "Simulator/Exec/Arithmetic/Elementwise.h"
#include "Simulator/Numerics/Approximate.h"
#include "Simulator/Numerics/Float32.h"

namespace tile::sim {
namespace {

using namespace numerics;

/// The optional suffixes between the name and the type: {.rnd}{.ftz}{.sat}{.relu}.
struct FloatSuffixes {
  std::optional<Rounding> rounding;
  Modifiers modifiers;
  bool oob = false;
  std::optional<Type> type;
};

FloatSuffixes takeSuffixes(Decoding &d) {
  FloatSuffixes suffixes;
  suffixes.rounding = takeRounding(d);
  suffixes.modifiers.flush = d.take("ftz");
  suffixes.modifiers.saturate = d.take("sat");
  suffixes.oob = d.take("oob");
  suffixes.modifiers.relu = d.take("relu");
  suffixes.type = d.takeType();
  return suffixes;
}

/// Decodes add, sub and fma of f32 in which the first operand, or both factors, have the 16-bit type that follows .f32.
template <typename Functions>
Result<OperationPtr> decodeMixed(Decoding &d, const Modifiers &modifiers, Rounding rounding, Type narrow) {
  if (modifiers.flush || modifiers.relu || (narrow != Type::F16 && narrow != Type::BF16))
    return d.unsupported();
  return chooseRounding(d, rounding, [&](auto tag) {
    return narrow == Type::F16 ? elementwise<Functions::template mixed<tag.rounding, Half>>(d, modifiers)
                               : elementwise<Functions::template mixed<tag.rounding, BFloat16>>(d, modifiers);
  });
}

/// Decodes the common part of add, sub, mul and fma: the modifiers that a type allows, and the functions for it.
template <typename Functions> Result<OperationPtr> decodeRounded(Decoding &d, const FloatSuffixes &suffixes) {
  const Modifiers &modifiers = suffixes.modifiers;
  Rounding rounding = suffixes.rounding.value_or(Rounding::NearestEven);
  if (!suffixes.type)
    return d.unsupported();
  if constexpr (Functions::hasMixed)
    if (std::optional<Type> narrow = suffixes.type == Type::F32 ? d.takeType() : std::nullopt)
      return decodeMixed<Functions>(d, modifiers, rounding, *narrow);
  switch (*suffixes.type) {
  case Type::F32:
  case Type::F32x2:
    if (modifiers.relu)
      break;
    return chooseRounding(d, rounding, [&](auto tag) {
      if (suffixes.type == Type::F32x2 && modifiers.saturate)
        return Result<OperationPtr>(d.unsupported());
      constexpr auto plain = Functions::template single<tag.rounding, false>;
      constexpr auto flushing = Functions::template single<tag.rounding, true>;
      if (suffixes.type == Type::F32x2)
        return modifiers.flush ? elementwise<flushing, 2>(d, modifiers) : elementwise<plain, 2>(d, modifiers);
      return modifiers.flush ? elementwise<flushing>(d, modifiers) : elementwise<plain>(d, modifiers);
    });
  case Type::F64:
    if (!modifiers.none())
      break;
    return chooseRounding(d, rounding,
                          [&](auto tag) { return elementwise<Functions::template twice<tag.rounding>>(d, modifiers); });
  case Type::F16:
  case Type::F16x2:
    if (rounding != Rounding::NearestEven || (modifiers.relu && !Functions::hasRelu))
      break;
    if (modifiers.flush)
      return suffixes.type == Type::F16 ? elementwise<Functions::template half<Half, true>>(d, modifiers)
                                        : elementwise<Functions::template half<Half, true>, 2>(d, modifiers);
    return suffixes.type == Type::F16 ? elementwise<Functions::template half<Half, false>>(d, modifiers)
                                      : elementwise<Functions::template half<Half, false>, 2>(d, modifiers);
  case Type::BF16:
  case Type::BF16x2:
    if (rounding != Rounding::NearestEven || modifiers.flush || modifiers.saturate ||
        (modifiers.relu && !Functions::hasRelu))
      break;
    return suffixes.type == Type::BF16 ? elementwise<Functions::template half<BFloat16, false>>(d, modifiers)
                                       : elementwise<Functions::template half<BFloat16, false>, 2>(d, modifiers);
  default:
    break;
  }
  return d.unsupported();
}

// The functions for f32 (with or without .ftz), f64, f16 and bf16.
template <Rounding rounding, bool> float addSingle(float a, float b) {
  return addRounded<rounding>(a, b);
}
template <Rounding rounding, bool> float subSingle(float a, float b) {
  return subRounded<rounding>(a, b);
}
template <typename T, bool> T addHalves(T a, T b) {
  return addHalf(a, b);
}
template <typename T, bool> T subHalves(T a, T b) {
  return subHalf(a, b);
}
template <Rounding rounding, typename T> float addMixed(T a, float c) {
  return addRounded<rounding>(toFloat(a), c);
}
template <Rounding rounding, typename T> float subMixed(T a, float c) {
  return subRounded<rounding>(toFloat(a), c);
}
template <Rounding rounding, typename T> float fmaMixed(T a, T b, float c) {
  return fmaRounded<rounding, false>(toFloat(a), toFloat(b), c);
}
using Binary64 = double (*)(double, double);

struct AddFunctions {
  static constexpr bool hasRelu = false, hasMixed = true;
  template <Rounding rounding, bool flush> static constexpr auto single = &addSingle<rounding, flush>;
  template <Rounding rounding> static constexpr auto twice = static_cast<Binary64>(&addRounded<rounding>);
  template <typename T, bool flush> static constexpr auto half = &addHalves<T, flush>;
  template <Rounding rounding, typename T> static constexpr auto mixed = &addMixed<rounding, T>;
};
struct SubFunctions {
  static constexpr bool hasRelu = false, hasMixed = true;
  template <Rounding rounding, bool flush> static constexpr auto single = &subSingle<rounding, flush>;
  template <Rounding rounding> static constexpr auto twice = static_cast<Binary64>(&subRounded<rounding>);
  template <typename T, bool flush> static constexpr auto half = &subHalves<T, flush>;
  template <Rounding rounding, typename T> static constexpr auto mixed = &subMixed<rounding, T>;
};
struct MulFunctions {
  static constexpr bool hasRelu = false, hasMixed = false;
  template <Rounding rounding, bool flush>
  static constexpr auto single = static_cast<float (*)(float, float)>(&mulRounded<rounding, flush>);
  template <Rounding rounding> static constexpr auto twice = static_cast<Binary64>(&mulRounded<rounding>);
  template <typename T, bool flush> static constexpr auto half = &mulHalf<T, flush>;
};
struct FmaFunctions {
  static constexpr bool hasRelu = true, hasMixed = true;
  template <Rounding rounding, bool flush>
  static constexpr auto single = static_cast<float (*)(float, float, float)>(&fmaRounded<rounding, flush>);
  template <Rounding rounding>
  static constexpr auto twice = static_cast<double (*)(double, double, double)>(&fmaRounded<rounding>);
  template <typename T, bool flush> static constexpr auto half = &fmaHalf<T, flush>;
  template <Rounding rounding, typename T> static constexpr auto mixed = &fmaMixed<rounding, T>;
};

/// fma.oob. An operand that is "out of bounds", the NaN 0xffff, makes the product zero.
template <typename T> T fmaOutOfBounds(T a, T b, T c) {
  return a.bits == 0xffff || b.bits == 0xffff ? addHalf<T>(c, T{0}) : fmaHalf(a, b, c);
}

Result<OperationPtr> decodeFma(Decoding &d) {
  FloatSuffixes suffixes = takeSuffixes(d);
  if (!suffixes.rounding)
    return d.unsupported(); // fma has no default rounding mode
  if (!suffixes.oob)
    return decodeRounded<FmaFunctions>(d, suffixes);
  if (suffixes.rounding != Rounding::NearestEven || suffixes.modifiers.flush || suffixes.modifiers.saturate)
    return d.unsupported();
  const Modifiers &modifiers = suffixes.modifiers;
  switch (suffixes.type.value_or(Type::None)) {
  case Type::F16:
    return elementwise<&fmaOutOfBounds<Half>>(d, modifiers);
  case Type::F16x2:
    return elementwise<&fmaOutOfBounds<Half>, 2>(d, modifiers);
  case Type::BF16:
    return elementwise<&fmaOutOfBounds<BFloat16>>(d, modifiers);
  case Type::BF16x2:
    return elementwise<&fmaOutOfBounds<BFloat16>, 2>(d, modifiers);
  default:
    return d.unsupported();
  }
}

/// Decodes rcp and sqrt with a rounding modifier; .approx is decoded below.
template <typename Functions> Result<OperationPtr> decodeUnaryRounded(Decoding &d) {
  std::optional<Rounding> rounding = takeRounding(d);
  Modifiers modifiers{.flush = d.take("ftz")};
  std::optional<Type> type = d.takeType();
  if (!rounding || (type != Type::F32 && type != Type::F64) || (type == Type::F64 && modifiers.flush))
    return d.unsupported();
  return chooseRounding(d, *rounding, [&](auto tag) {
    if (type == Type::F64)
      return elementwise<Functions::template twice<tag.rounding>>(d);
    return modifiers.flush ? elementwise<Functions::template single<tag.rounding, true>>(d, modifiers)
                           : elementwise<Functions::template single<tag.rounding, false>>(d);
  });
}

/// The result of sqrt is never subnormal, so .ftz has no effect on it.
template <Rounding rounding, bool> float sqrtSingle(float a) {
  return sqrtRounded<rounding>(a);
}

struct RcpFunctions {
  template <Rounding rounding, bool flush>
  static constexpr auto single = static_cast<float (*)(float)>(&rcpRounded<rounding, flush>);
  template <Rounding rounding> static constexpr auto twice = static_cast<double (*)(double)>(&rcpRounded<rounding>);
};
struct SqrtFunctions {
  template <Rounding rounding, bool flush> static constexpr auto single = &sqrtSingle<rounding, flush>;
  template <Rounding rounding> static constexpr auto twice = static_cast<double (*)(double)>(&sqrtRounded<rounding>);
};

Result<OperationPtr> decodeRcp(Decoding &d) {
  if (!d.take("approx"))
    return decodeUnaryRounded<RcpFunctions>(d);
  Modifiers modifiers{.flush = d.take("ftz")};
  std::optional<Type> type = d.takeType();
  if (type == Type::F32)
    return elementwise<&rcpApproximate>(d, modifiers);
  if (type == Type::F64 && modifiers.flush)
    return elementwise<&rcpUpperHalf>(d);
  return d.unsupported();
}

Result<OperationPtr> decodeSqrt(Decoding &d) {
  if (!d.take("approx"))
    return decodeUnaryRounded<SqrtFunctions>(d);
  Modifiers modifiers{.flush = d.take("ftz")};
  if (d.takeType() != Type::F32)
    return d.unsupported();
  return elementwise<static_cast<float (*)(float)>(&sqrtRounded<Rounding::NearestEven>)>(d, modifiers);
}

/// min and max of three operands (PTX ISA 8.8, sm_100 and later); with .abs, of their magnitudes.
template <bool isMax, NanRule nanRule, bool isAbs> float minMaxOfThree(float a, float b, float c) {
  if constexpr (isAbs)
    return minMaxOfThree<isMax, nanRule, false>(std::fabs(a), std::fabs(b), std::fabs(c));
  return minMax<float, isMax, nanRule, false>(minMax<float, isMax, nanRule, false>(a, b), c);
}

/// Decodes min and max with {.ftz}{.NaN}{.xorsign.abs}.
template <bool isMax, NanRule nanRule, bool xorSign>
Result<OperationPtr> decodeExtremeOf(Decoding &d, Modifiers modifiers) {
  const bool isAbs = !xorSign && d.take("abs");
  std::optional<Type> type = d.takeType();
  const bool hasThree = type == Type::F32 && !xorSign && d.instruction.operands.size() == 4;
  if (hasThree && isAbs)
    return elementwise<&minMaxOfThree<isMax, nanRule, true>>(d, modifiers);
  if (hasThree)
    return elementwise<&minMaxOfThree<isMax, nanRule, false>>(d, modifiers);
  if (isAbs)
    return d.unsupported();
  if (type == Type::F64)
    return modifiers.flush || xorSign || nanRule == NanRule::Propagate
               ? Result<OperationPtr>(d.unsupported())
               : elementwise<&minMax<double, isMax, NanRule::PassOver, false>>(d);
  if (type == Type::F16x2)
    return elementwise<&minMax<Half, isMax, nanRule, xorSign>, 2>(d, modifiers);
  if (type == Type::BF16x2 && !modifiers.flush)
    return elementwise<&minMax<BFloat16, isMax, nanRule, xorSign>, 2>(d);
  if (type == Type::BF16 && modifiers.flush)
    return d.unsupported();
  return chooseType<Type::F32, Type::F16, Type::BF16>(d, type, [&](auto tag) {
    return elementwise<&minMax<typename decltype(tag)::type, isMax, nanRule, xorSign>>(d, modifiers);
  });
}

template <bool isMax> Result<OperationPtr> decodeExtreme(Decoding &d) {
  Modifiers modifiers{.flush = d.take("ftz")};
  bool propagate = d.take("NaN"), xorSign = d.take("xorsign");
  if (xorSign && !d.take("abs"))
    return d.unsupported();
  if (propagate)
    return xorSign ? decodeExtremeOf<isMax, NanRule::Propagate, true>(d, modifiers)
                   : decodeExtremeOf<isMax, NanRule::Propagate, false>(d, modifiers);
  return xorSign ? decodeExtremeOf<isMax, NanRule::PassOver, true>(d, modifiers)
                 : decodeExtremeOf<isMax, NanRule::PassOver, false>(d, modifiers);
}

template <typename T> struct Absolute {
  static T apply(T a) { return absolute(a); }
};
template <typename T> struct Negative {
  static T apply(T a) { return negative(a); }
};

/// Decodes abs and neg; {.ftz} exists for f32 and f16.
template <template <typename> typename Function> Result<OperationPtr> decodeSign(Decoding &d) {
  Modifiers modifiers{.flush = d.take("ftz")};
  std::optional<Type> type = d.takeType();
  if (type == Type::F16x2)
    return elementwise<&Function<Half>::apply, 2>(d, modifiers);
  if (modifiers.flush && type != Type::F32 && type != Type::F16)
    return d.unsupported();
  if (type == Type::BF16x2)
    return elementwise<&Function<BFloat16>::apply, 2>(d);
  return chooseType<Type::F32, Type::F64, Type::F16, Type::BF16>(
      d, type, [&](auto tag) { return elementwise<&Function<typename decltype(tag)::type>::apply>(d, modifiers); });
}

Result<OperationPtr> decodeCopysign(Decoding &d) {
  return chooseType<Type::F32, Type::F64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&copySign<typename decltype(tag)::type>>(d); });
}

constexpr DecoderEntry entries[] = {
    {"fma", decodeFma}, {"rcp", decodeRcp}, {"sqrt", decodeSqrt}, {"copysign", decodeCopysign}};

} // namespace

std::optional<Rounding> takeRounding(Decoding &d) {
  switch (d.takeOne({"rn", "rz", "rm", "rp"})) {
  case 0:
    return Rounding::NearestEven;
  case 1:
    return Rounding::Zero;
  case 2:
    return Rounding::Down;
  case 3:
    return Rounding::Up;
  }
  return {};
}

Result<OperationPtr> decodeFloatAdd(Decoding &d) {
  FloatSuffixes suffixes = takeSuffixes(d);
  return suffixes.oob ? Result<OperationPtr>(d.unsupported()) : decodeRounded<AddFunctions>(d, suffixes);
}
Result<OperationPtr> decodeFloatSub(Decoding &d) {
  FloatSuffixes suffixes = takeSuffixes(d);
  return suffixes.oob ? Result<OperationPtr>(d.unsupported()) : decodeRounded<SubFunctions>(d, suffixes);
}
Result<OperationPtr> decodeFloatMul(Decoding &d) {
  FloatSuffixes suffixes = takeSuffixes(d);
  return suffixes.oob ? Result<OperationPtr>(d.unsupported()) : decodeRounded<MulFunctions>(d, suffixes);
}
/// Decodes mad: for floats it is fma, and f16 has none.
Result<OperationPtr> decodeFloatMad(Decoding &d) {
  FloatSuffixes suffixes = takeSuffixes(d);
  if (suffixes.oob || suffixes.modifiers.relu || !suffixes.rounding ||
      (suffixes.type != Type::F32 && suffixes.type != Type::F64))
    return d.unsupported();
  return decodeRounded<FmaFunctions>(d, suffixes);
}

/// Decodes div.approx, div.full, and div with a rounding modifier.
Result<OperationPtr> decodeFloatDiv(Decoding &d) {
  int approximate = d.takeOne({"approx", "full"});
  std::optional<Rounding> rounding = takeRounding(d);
  Modifiers modifiers{.flush = d.take("ftz")};
  std::optional<Type> type = d.takeType();
  if (approximate >= 0) {
    if (rounding || type != Type::F32)
      return d.unsupported();
    if (modifiers.flush)
      return approximate == 0 ? elementwise<&divApproximate<true>>(d, modifiers)
                              : elementwise<&divFull<true>>(d, modifiers);
    return approximate == 0 ? elementwise<&divApproximate<false>>(d) : elementwise<&divFull<false>>(d);
  }
  if (!rounding || (type == Type::F64 && modifiers.flush))
    return d.unsupported();
  if (type != Type::F32 && type != Type::F64)
    return d.unsupported();
  return chooseRounding(d, *rounding, [&](auto tag) {
    using Binary32 = float (*)(float, float);
    if (type == Type::F64)
      return elementwise<static_cast<Binary64>(&divRounded<tag.rounding>)>(d);
    return modifiers.flush ? elementwise<static_cast<Binary32>(&divRounded<tag.rounding, true>)>(d, modifiers)
                           : elementwise<static_cast<Binary32>(&divRounded<tag.rounding, false>)>(d);
  });
}

Result<OperationPtr> decodeFloatMin(Decoding &d) {
  return decodeExtreme<false>(d);
}
Result<OperationPtr> decodeFloatMax(Decoding &d) {
  return decodeExtreme<true>(d);
}
Result<OperationPtr> decodeFloatAbs(Decoding &d) {
  return decodeSign<Absolute>(d);
}
Result<OperationPtr> decodeFloatNeg(Decoding &d) {
  return decodeSign<Negative>(d);
}

std::span<const DecoderEntry> floatDecoders() {
  return entries;
}

} // namespace tile::sim
