// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Helpers for the decoders of arithmetic instructions: dispatch on types and rounding modes, and the decoders of each
// family.
#pragma once

#include "Simulator/Exec/Decoding.h"
#include "Simulator/Numerics/Rounding.h"

namespace tile::sim {

/// The host's type for a PTX type. PTX's bit types are unsigned.
template <Type type> struct NativeOf;
#define NATIVE(name, host)                                                                                             \
  template <> struct NativeOf<Type::name> {                                                                            \
    using type = host;                                                                                                 \
  };
NATIVE(B8, uint8_t)
NATIVE(B16, uint16_t)
NATIVE(B32, uint32_t)
NATIVE(B64, uint64_t)
NATIVE(U8, uint8_t)
NATIVE(U16, uint16_t)
NATIVE(U32, uint32_t)
NATIVE(U64, uint64_t)
NATIVE(S8, int8_t)
NATIVE(S16, int16_t)
NATIVE(S32, int32_t)
NATIVE(S64, int64_t)
NATIVE(F16, Half)
NATIVE(BF16, BFloat16)
NATIVE(F32, float)
NATIVE(F64, double)
#undef NATIVE
template <Type type> using Native = typename NativeOf<type>::type;

template <typename T> struct Tag {
  using type = T;
};

/// Calls `function(Tag<host type>)` for `type`. Returns an error if `type` is not one of `types`.
template <Type... types, typename Function>
Result<OperationPtr> chooseType(Decoding &d, std::optional<Type> type, Function &&function) {
  std::optional<Result<OperationPtr>> result;
  (void)((type == types && (result.emplace(function(Tag<Native<types>>())), true)) || ...);
  return result ? std::move(*result) : Result<OperationPtr>(d.unsupported());
}

using numerics::Rounding;

/// Takes .rn, .rz, .rm or .rp. Returns nullopt if the next suffix is none of them.
std::optional<Rounding> takeRounding(Decoding &d);

template <Rounding value> struct RoundingTag {
  static constexpr Rounding rounding = value;
};

/// Calls `function(RoundingTag<rounding>)`.
template <typename Function> Result<OperationPtr> chooseRounding(Decoding &d, Rounding rounding, Function &&function) {
  switch (rounding) {
  case Rounding::NearestEven:
    return function(RoundingTag<Rounding::NearestEven>());
  case Rounding::Zero:
    return function(RoundingTag<Rounding::Zero>());
  case Rounding::Down:
    return function(RoundingTag<Rounding::Down>());
  case Rounding::Up:
    return function(RoundingTag<Rounding::Up>());
  case Rounding::NearestAway:
    break;
  }
  return d.unsupported();
}

/// The decoders, one for each group of arithmetic instructions.
std::span<const DecoderEntry> integerDecoders();
std::span<const DecoderEntry> carryDecoders();
std::span<const DecoderEntry> bitDecoders();
std::span<const DecoderEntry> floatDecoders();
std::span<const DecoderEntry> approximateDecoders();

/// Returns true if the last suffix is a floating-point type that has arithmetic.
bool hasFloatType(const Decoding &d);

// Decode add.cc, mad.lo.cc, … from `.cc` on, and addc, … from the optional `.cc` on.
Result<OperationPtr> decodeAddCarry(Decoding &d, bool takesCarry);
Result<OperationPtr> decodeSubCarry(Decoding &d, bool takesCarry);
Result<OperationPtr> decodeMadCarry(Decoding &d, bool isHigh, bool takesCarry);

// Decode instructions that have the same name for integers and floats. The integer decoder calls these before it takes
// a suffix.
Result<OperationPtr> decodeFloatAdd(Decoding &d);
Result<OperationPtr> decodeFloatSub(Decoding &d);
Result<OperationPtr> decodeFloatMul(Decoding &d);
Result<OperationPtr> decodeFloatMad(Decoding &d);
Result<OperationPtr> decodeFloatDiv(Decoding &d);
Result<OperationPtr> decodeFloatMin(Decoding &d);
Result<OperationPtr> decodeFloatMax(Decoding &d);
Result<OperationPtr> decodeFloatAbs(Decoding &d);
Result<OperationPtr> decodeFloatNeg(Decoding &d);

} // namespace tile::sim
