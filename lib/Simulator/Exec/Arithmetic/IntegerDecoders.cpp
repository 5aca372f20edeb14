// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic: PTX ISA 9.7.1 and, with carry flags, 9.7.2.
#include "Simulator/Exec/Arithmetic/Elementwise.h"
#include "Simulator/Numerics/Integer.h"

namespace tile::sim {
namespace {

using namespace numerics;

/// Decodes add and sub: plain, saturating and (only add) packed.
template <template <typename> typename Functions, bool hasPacked> Result<OperationPtr> decodeSum(Decoding &d) {
  bool saturate = d.take("sat");
  std::optional<Type> type = d.takeType();
  if (saturate)
    return chooseType<Type::S32>(
        d, type, [&](auto tag) { return elementwise<&Functions<typename decltype(tag)::type>::saturating>(d); });
  if (hasPacked && (type == Type::U16x2 || type == Type::S16x2))
    return elementwise<&Functions<uint16_t>::plain, 2>(d);
  return chooseType<Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>(
      d, type, [&](auto tag) { return elementwise<&Functions<typename decltype(tag)::type>::plain>(d); });
}

template <typename T> struct Add {
  static T plain(T a, T b) { return wrappingAdd(a, b); }
  static T saturating(T a, T b) { return addSaturating(a, b); }
};
template <typename T> struct Sub {
  static T plain(T a, T b) { return wrappingSub(a, b); }
  static T saturating(T a, T b) { return subSaturating(a, b); }
};

enum class Part { Low, High, Wide };

std::optional<Part> takePart(Decoding &d) {
  switch (d.takeOne({"lo", "hi", "wide"})) {
  case 0:
    return Part::Low;
  case 1:
    return Part::High;
  case 2:
    return Part::Wide;
  }
  return {};
}

Result<OperationPtr> decodeMul(Decoding &d) {
  if (hasFloatType(d))
    return decodeFloatMul(d);
  std::optional<Part> part = takePart(d);
  std::optional<Type> type = d.takeType();
  if (!part)
    return d.unsupported();
  if (part == Part::Wide)
    return chooseType<Type::U16, Type::U32, Type::S16, Type::S32>(
        d, type, [&](auto tag) { return elementwise<&mulWide<typename decltype(tag)::type>>(d); });
  return chooseType<Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>(d, type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return part == Part::Low ? elementwise<&mulLow<T>>(d) : elementwise<&mulHigh<T>>(d);
  });
}

Result<OperationPtr> decodeMad(Decoding &d) {
  if (hasFloatType(d))
    return decodeFloatMad(d);
  std::optional<Part> part = takePart(d);
  if (part && d.peek() == "cc")
    return decodeMadCarry(d, part == Part::High, false);
  bool saturate = d.take("sat");
  std::optional<Type> type = d.takeType();
  if (!part)
    return d.unsupported();
  if (saturate) {
    if (part != Part::High || type != Type::S32)
      return d.unsupported();
    return elementwise<&madHighSaturating<int32_t>>(d);
  }
  if (part == Part::Wide)
    return chooseType<Type::U16, Type::U32, Type::S16, Type::S32>(
        d, type, [&](auto tag) { return elementwise<&madWide<typename decltype(tag)::type>>(d); });
  return chooseType<Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>(d, type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return part == Part::Low ? elementwise<&madLow<T>>(d) : elementwise<&madHigh<T>>(d);
  });
}

Result<OperationPtr> decodeMul24(Decoding &d) {
  std::optional<Part> part = takePart(d);
  if (!part || part == Part::Wide)
    return d.unsupported();
  return chooseType<Type::U32, Type::S32>(d, d.takeType(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    return part == Part::Low ? elementwise<&mul24Low<T>>(d) : elementwise<&mul24High<T>>(d);
  });
}

Result<OperationPtr> decodeMad24(Decoding &d) {
  std::optional<Part> part = takePart(d);
  bool saturate = d.take("sat");
  std::optional<Type> type = d.takeType();
  if (!part || part == Part::Wide || (saturate && (part != Part::High || type != Type::S32)))
    return d.unsupported();
  if (saturate)
    return elementwise<&mad24HighSaturating<int32_t>>(d);
  return chooseType<Type::U32, Type::S32>(d, type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return part == Part::Low ? elementwise<&mad24Low<T>>(d) : elementwise<&mad24High<T>>(d);
  });
}

Result<OperationPtr> decodeAdd(Decoding &d) {
  if (hasFloatType(d))
    return decodeFloatAdd(d);
  if (d.peek() == "cc")
    return decodeAddCarry(d, false);
  return decodeSum<Add, true>(d);
}

Result<OperationPtr> decodeSub(Decoding &d) {
  if (hasFloatType(d))
    return decodeFloatSub(d);
  if (d.peek() == "cc")
    return decodeSubCarry(d, false);
  return decodeSum<Sub, false>(d);
}

Result<OperationPtr> decodeDiv(Decoding &d) {
  if (hasFloatType(d))
    return decodeFloatDiv(d);
  return chooseType<Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&divide<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeRem(Decoding &d) {
  return chooseType<Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&numerics::remainder<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeSad(Decoding &d) {
  return chooseType<Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&sumOfDifference<typename decltype(tag)::type>>(d); });
}

/// Decodes min and max: {.relu}.type, where .relu exists for signed types.
template <template <typename> typename Functions> Result<OperationPtr> decodeExtreme(Decoding &d) {
  bool relu = d.take("relu");
  std::optional<Type> type = d.takeType();
  if (relu && type == Type::S16x2)
    return elementwise<&Functions<int16_t>::relu, 2>(d);
  if (relu && type == Type::S32)
    return elementwise<&Functions<int32_t>::relu>(d);
  if (relu)
    return d.unsupported();
  if (type == Type::U16x2)
    return elementwise<&Functions<uint16_t>::plain, 2>(d);
  if (type == Type::S16x2)
    return elementwise<&Functions<int16_t>::plain, 2>(d);
  return chooseType<Type::U16, Type::U32, Type::U64, Type::S16, Type::S32, Type::S64>(
      d, type, [&](auto tag) { return elementwise<&Functions<typename decltype(tag)::type>::plain>(d); });
}

template <typename T> struct Minimum {
  static T plain(T a, T b) { return minimum(a, b); }
  static T relu(T a, T b) { return minimumRelu(a, b); }
};
template <typename T> struct Maximum {
  static T plain(T a, T b) { return maximum(a, b); }
  static T relu(T a, T b) { return maximumRelu(a, b); }
};

Result<OperationPtr> decodeMin(Decoding &d) {
  return hasFloatType(d) ? decodeFloatMin(d) : decodeExtreme<Minimum>(d);
}
Result<OperationPtr> decodeMax(Decoding &d) {
  return hasFloatType(d) ? decodeFloatMax(d) : decodeExtreme<Maximum>(d);
}

Result<OperationPtr> decodeAbs(Decoding &d) {
  if (hasFloatType(d))
    return decodeFloatAbs(d);
  return chooseType<Type::S16, Type::S32, Type::S64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&absoluteValue<typename decltype(tag)::type>>(d); });
}

Result<OperationPtr> decodeNeg(Decoding &d) {
  if (hasFloatType(d))
    return decodeFloatNeg(d);
  return chooseType<Type::S16, Type::S32, Type::S64>(
      d, d.takeType(), [&](auto tag) { return elementwise<&negate<typename decltype(tag)::type>>(d); });
}

/// Decodes dp4a.atype.btype d, a, b, c.
Result<OperationPtr> decodeDot4(Decoding &d) {
  std::optional<Type> a = d.takeType(), b = d.takeType();
  auto valid = [](std::optional<Type> type) { return type == Type::U32 || type == Type::S32; };
  if (!valid(a) || !valid(b))
    return d.unsupported();
  if (a == Type::U32)
    return b == Type::U32 ? elementwise<&dotBytes<uint8_t, uint8_t>>(d) : elementwise<&dotBytes<uint8_t, int8_t>>(d);
  return b == Type::U32 ? elementwise<&dotBytes<int8_t, uint8_t>>(d) : elementwise<&dotBytes<int8_t, int8_t>>(d);
}

template <bool upper> Result<OperationPtr> decodeDot2Part(Decoding &d) {
  std::optional<Type> a = d.takeType(), b = d.takeType();
  auto valid = [](std::optional<Type> type) { return type == Type::U32 || type == Type::S32; };
  if (!valid(a) || !valid(b))
    return d.unsupported();
  if (a == Type::U32)
    return b == Type::U32 ? elementwise<&dotHalves<uint16_t, uint8_t, upper>>(d)
                          : elementwise<&dotHalves<uint16_t, int8_t, upper>>(d);
  return b == Type::U32 ? elementwise<&dotHalves<int16_t, uint8_t, upper>>(d)
                        : elementwise<&dotHalves<int16_t, int8_t, upper>>(d);
}

Result<OperationPtr> decodeDot2(Decoding &d) {
  switch (d.takeOne({"lo", "hi"})) {
  case 0:
    return decodeDot2Part<false>(d);
  case 1:
    return decodeDot2Part<true>(d);
  }
  return d.unsupported();
}

constexpr DecoderEntry entries[] = {
    {"add", decodeAdd},     {"sub", decodeSub}, {"mul", decodeMul}, {"mad", decodeMad},   {"mul24", decodeMul24},
    {"mad24", decodeMad24}, {"div", decodeDiv}, {"rem", decodeRem}, {"sad", decodeSad},   {"min", decodeMin},
    {"max", decodeMax},     {"abs", decodeAbs}, {"neg", decodeNeg}, {"dp4a", decodeDot4}, {"dp2a", decodeDot2},
};

} // namespace

std::span<const DecoderEntry> integerDecoders() {
  return entries;
}

bool hasFloatType(const Decoding &d) {
  if (d.instruction.suffixes.empty())
    return false;
  switch (parseType(d.instruction.suffixes.back()).value_or(Type::None)) {
  case Type::F16:
  case Type::F16x2:
  case Type::BF16:
  case Type::BF16x2:
  case Type::F32:
  case Type::F32x2:
  case Type::F64:
    return true;
  default:
    return false;
  }
}

} // namespace tile::sim
