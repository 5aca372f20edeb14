// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt between scalar types: PTX ISA 9.7.9.21.
#include "Simulator/Exec/Arithmetic/Conversion.h"

namespace tile::sim {
namespace {

bool isFloatType(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F32 || type == Type::F64;
}
bool isSignedType(Type type) {
  return type == Type::S8 || type == Type::S16 || type == Type::S32 || type == Type::S64;
}
bool isScalarType(Type type) {
  return isFloatType(type) || isSignedType(type) || type == Type::U8 || type == Type::U16 || type == Type::U32 ||
         type == Type::U64;
}

struct Suffixes {
  std::optional<Rounding> rounding; ///< how to round to a floating-point type
  std::optional<Rounding> integral; ///< how to round to an integer
  Modifiers modifiers;
  bool satFinite = false;
  Type to = Type::None, from = Type::None;
};

Suffixes takeSuffixes(Decoding &d) {
  Suffixes suffixes;
  static constexpr Rounding modes[] = {Rounding::NearestEven, Rounding::Zero, Rounding::Down, Rounding::Up};
  int integral = d.takeOne({"rni", "rzi", "rmi", "rpi"});
  if (integral >= 0)
    suffixes.integral = modes[integral];
  else
    suffixes.rounding = takeRounding(d);
  suffixes.modifiers.flush = d.take("ftz");
  suffixes.modifiers.relu = d.take("relu");
  suffixes.modifiers.saturate = d.take("sat");
  suffixes.satFinite = d.take("satfinite");
  suffixes.modifiers.relu |= d.take("relu"); // ptxas accepts it before or after .satfinite
  suffixes.to = d.takeType().value_or(Type::None);
  suffixes.from = d.takeType().value_or(Type::None);
  return suffixes;
}

/// Returns true if converting between these floating-point types may have to round.
bool needsRounding(Type to, Type from) {
  if (to == from || to == Type::F64)
    return false;
  return from == Type::F64 || to != Type::F32;
}

bool isAllowed(const Suffixes &s) {
  if (!isScalarType(s.to) || !isScalarType(s.from))
    return false;
  bool toFloat = isFloatType(s.to), fromFloat = isFloatType(s.from);
  const Modifiers &modifiers = s.modifiers;
  if (modifiers.flush && s.to != Type::F32 && s.from != Type::F32)
    return false;
  if (modifiers.saturate && (s.to == Type::BF16 || s.from == Type::BF16))
    return false;
  bool isHalf = s.to == Type::F16 || s.to == Type::BF16;
  if ((modifiers.relu || s.satFinite) && (!isHalf || s.from != Type::F32 || modifiers.saturate || modifiers.flush ||
                                          (s.rounding != Rounding::NearestEven && s.rounding != Rounding::Zero)))
    return false;
  if (toFloat && fromFloat) {
    if (s.integral)
      return s.to == s.from;
    const bool isBetweenHalves = isHalf && (s.from == Type::F16 || s.from == Type::BF16) && s.to != s.from;
    return isBetweenHalves || s.rounding.has_value() == needsRounding(s.to, s.from); // f16 ↔ bf16: both are valid
  }
  if (toFloat)
    return s.rounding && !s.integral;
  return fromFloat ? s.integral && !s.rounding : !s.integral && !s.rounding;
}

/// Returns of(Tag) for the C++ type of an integer type; null for other types.
template <typename Made, typename Of> std::unique_ptr<Made> makeForInteger(Type type, Of of) {
  switch (type) {
  case Type::U8:
    return of(Tag<uint8_t>());
  case Type::U16:
    return of(Tag<uint16_t>());
  case Type::U32:
    return of(Tag<uint32_t>());
  case Type::U64:
    return of(Tag<uint64_t>());
  case Type::S8:
    return of(Tag<int8_t>());
  case Type::S16:
    return of(Tag<int16_t>());
  case Type::S32:
    return of(Tag<int32_t>());
  case Type::S64:
    return of(Tag<int64_t>());
  default:
    return nullptr;
  }
}

/// Like makeForInteger, but for a floating-point type with arithmetic.
template <typename Made, typename Of> std::unique_ptr<Made> makeForFloat(Type type, Of of) {
  switch (type) {
  case Type::F16:
    return of(Tag<Half>());
  case Type::BF16:
    return of(Tag<BFloat16>());
  case Type::F32:
    return of(Tag<float>());
  case Type::F64:
    return of(Tag<double>());
  default:
    return nullptr;
  }
}

template <typename Middle> std::unique_ptr<ConversionReader<Middle>> makeReader(Decoding &d, Type type, bool flush) {
  auto of = [&]<typename S>(Tag<S>) { return std::make_unique<Reader<S, Middle>>(d, flush); };
  if (auto reader = makeForInteger<ConversionReader<Middle>>(type, of))
    return reader;
  if constexpr (std::is_same_v<Middle, double>)
    return makeForFloat<ConversionReader<Middle>>(type, of);
  return nullptr;
}

template <typename Middle>
std::unique_ptr<ConversionWriter<Middle>> makeIntegerWriter(Decoding &d, Type type, bool saturate, bool nanIsTop) {
  auto of = [&]<typename D>(Tag<D>) { return std::make_unique<IntegerWriter<D, Middle>>(d, saturate, nanIsTop); };
  return makeForInteger<ConversionWriter<Middle>>(type, of);
}

std::unique_ptr<ConversionWriter<double>> makeFloatWriter(Decoding &d, const Suffixes &s) {
  Rounding rounding = s.rounding.value_or(Rounding::NearestEven);
  Modifiers modifiers = s.modifiers;
  modifiers.flush = s.to == Type::F32 && modifiers.flush;
  bool viaSingle = s.to == Type::F64 && s.modifiers.flush; // cvt.ftz.f64.f32
  NanResult nan = (s.to == Type::F64 || s.from == Type::F64) && !viaSingle ? NanResult::Payload : NanResult::Canonical;
  auto of = [&]<typename D>(Tag<D>) {
    return std::make_unique<FloatWriter<D>>(d, rounding, modifiers, s.satFinite, nan);
  };
  return makeForFloat<ConversionWriter<double>>(s.to, of);
}

template <typename Middle> Result<OperationPtr> makeFromInteger(Decoding &d, const Suffixes &s) {
  auto conversion = std::make_unique<Conversion<Middle>>();
  conversion->reader = makeReader<Middle>(d, s.from, false);
  if (s.to == Type::F64)
    conversion->writer = std::make_unique<LongToDoubleWriter<Middle>>(d, *s.rounding, s.modifiers);
  else
    conversion->writer = makeIntegerWriter<Middle>(d, s.to, s.modifiers.saturate, false);
  return OperationPtr(std::move(conversion));
}

/// Conversions that copy or shift bits: NaNs stay as they are.
template <typename T> T sameBits(T value) {
  return value;
}
uint32_t upperBits(uint16_t value) {
  return uint32_t(value) << 16;
}

Result<OperationPtr> decodeCvt(Decoding &d) {
  if (isPackedConversion(d))
    return decodePackedConversion(d);
  Suffixes s = takeSuffixes(d);
  if (!d.finished(2) || !isAllowed(s))
    return d.unsupported();
  bool isPlain = s.modifiers.none() && !s.integral;
  if (isPlain && s.to == Type::F32 && s.from == Type::F32)
    return elementwise<&sameBits<uint32_t>>(d);
  if (isPlain && s.to == Type::F64 && s.from == Type::F64)
    return elementwise<&sameBits<uint64_t>>(d);
  if (isPlain && s.to == Type::F32 && s.from == Type::BF16)
    return elementwise<&upperBits>(d);
  bool fromInteger = !isFloatType(s.from);
  if (fromInteger && (!isFloatType(s.to) || s.to == Type::F64))
    return isSignedType(s.from) ? makeFromInteger<int64_t>(d, s) : makeFromInteger<uint64_t>(d, s);
  auto conversion = std::make_unique<Conversion<double>>();
  // Conversions to f16 ignore .ftz, in spite of the ISA: an H200 rounds subnormal operands up and down.
  conversion->reader = makeReader<double>(d, s.from, s.modifiers.flush && s.to != Type::F16);
  conversion->integral = s.integral;
  bool nanIsTop = s.from == Type::F64 || s.to == Type::U64 || s.to == Type::S64; // as on an H200; the ISA says 0
  conversion->writer = isFloatType(s.to) ? makeFloatWriter(d, s) : makeIntegerWriter<double>(d, s.to, true, nanIsTop);
  return OperationPtr(std::move(conversion));
}

constexpr DecoderEntry entries[] = {{"cvt", decodeCvt}};

} // namespace

std::span<const DecoderEntry> conversionDecoders() {
  return entries;
}

} // namespace tile::sim
