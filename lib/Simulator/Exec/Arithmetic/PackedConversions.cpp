// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt for pairs (f16x2, bf16x2, e4m3x2 …) and to tf32, and cvt.pack: PTX ISA 9.7.9.21, 9.7.9.22.
//
// If there are two sources a, b, the first one goes to the upper half of the result.
#include "Simulator/Exec/Arithmetic/Conversion.h"

namespace tile::sim {
namespace {

using namespace numerics;

struct Suffixes {
  int rounding = -1; ///< index into the list rn, rz, rna, rp
  bool relu = false, satFinite = false;
  Type to = Type::None, from = Type::None;
};

enum { Rn, Rz, Rna, Rp };

Suffixes takeSuffixes(Decoding &d) {
  Suffixes suffixes;
  suffixes.rounding = d.takeOne({"rn", "rz", "rna", "rp"});
  suffixes.relu = d.take("relu");
  suffixes.satFinite = d.take("satfinite");
  suffixes.relu |= d.take("relu"); // ptxas accepts it before or after .satfinite
  suffixes.to = d.takeType().value_or(Type::None);
  suffixes.from = d.takeType().value_or(Type::None);
  return suffixes;
}

template <bool relu> double clamped(double value) {
  return relu && value <= 0 ? 0.0 : value;
}

template <typename T, Rounding rounding, bool relu, bool satFinite> uint32_t packHalves(float a, float b) {
  uint32_t upper = narrow<T, rounding>(clamped<relu>(a), satFinite).bits;
  uint32_t lower = narrow<T, rounding>(clamped<relu>(b), satFinite).bits;
  return upper << 16 | lower;
}

template <typename T, Rounding rounding> Result<OperationPtr> packHalvesFor(Decoding &d, const Suffixes &s) {
  if (s.relu)
    return s.satFinite ? elementwise<&packHalves<T, rounding, true, true>>(d)
                       : elementwise<&packHalves<T, rounding, true, false>>(d);
  return s.satFinite ? elementwise<&packHalves<T, rounding, false, true>>(d)
                     : elementwise<&packHalves<T, rounding, false, false>>(d);
}

/// Converts to tf32. NaN becomes 0x7fffe000, except with .rna, which truncates the lower bits of a NaN: some NaNs then
/// become infinity or, with .satfinite, the largest value (as on an H200).
template <Rounding rounding, bool relu, bool satFinite> uint32_t toTf32(float a) {
  if (rounding == Rounding::NearestAway && a != a)
    return (std::bit_cast<uint32_t>(a) & ~0x1fffu) - (satFinite ? 0x2000 : 0);
  return encode<tf32Format, rounding>(clamped<relu>(a), satFinite) << 13;
}

Result<OperationPtr> decodeTf32(Decoding &d, const Suffixes &s) {
  if (s.from != Type::F32 || (s.rounding == Rna && s.relu))
    return d.unsupported();
  switch (s.rounding) {
  case Rna:
    return s.satFinite ? elementwise<&toTf32<Rounding::NearestAway, false, true>>(d)
                       : elementwise<&toTf32<Rounding::NearestAway, false, false>>(d);
  case Rn:
    if (s.relu)
      return s.satFinite ? elementwise<&toTf32<Rounding::NearestEven, true, true>>(d)
                         : elementwise<&toTf32<Rounding::NearestEven, true, false>>(d);
    return s.satFinite ? elementwise<&toTf32<Rounding::NearestEven, false, true>>(d)
                       : elementwise<&toTf32<Rounding::NearestEven, false, false>>(d);
  case Rz:
    if (s.relu)
      return s.satFinite ? elementwise<&toTf32<Rounding::Zero, true, true>>(d)
                         : elementwise<&toTf32<Rounding::Zero, true, false>>(d);
    return s.satFinite ? elementwise<&toTf32<Rounding::Zero, false, true>>(d)
                       : elementwise<&toTf32<Rounding::Zero, false, false>>(d);
  }
  return d.unsupported();
}

// The formats with at most 8 bits. A pair of e2m1 occupies one byte; a pair of the others occupies two.

template <const Format &format> constexpr int elementBits = &format == &e2m1Format ? 4 : 8;
template <const Format &format> using PairOf = std::conditional_t<elementBits<format> == 4, uint8_t, uint16_t>;

template <const Format &format, bool relu> PairOf<format> packSmall(float a, float b) {
  uint32_t upper = encode<format>(clamped<relu>(a), true), lower = encode<format>(clamped<relu>(b), true);
  return PairOf<format>(upper << elementBits<format> | lower);
}
template <const Format &format, bool relu> PairOf<format> packSmallHalves(uint32_t a) {
  return packSmall<format, relu>(toFloat(Half{uint16_t(a >> 16)}), toFloat(Half{uint16_t(a)}));
}
template <const Format &format, bool relu> uint32_t unpackSmall(PairOf<format> a) {
  constexpr uint32_t mask = (1u << elementBits<format>)-1;
  uint32_t upper = narrow<Half>(clamped<relu>(decode<format>(a >> elementBits<format> & mask))).bits;
  uint32_t lower = narrow<Half>(clamped<relu>(decode<format>(a & mask))).bits;
  return upper << 16 | lower;
}

template <const Format &format> Result<OperationPtr> decodeToSmall(Decoding &d, const Suffixes &s) {
  if (s.rounding != Rn || !s.satFinite)
    return d.unsupported();
  if (s.from == Type::F32)
    return s.relu ? elementwise<&packSmall<format, true>>(d) : elementwise<&packSmall<format, false>>(d);
  if (s.from == Type::F16x2 && elementBits<format> == 8)
    return s.relu ? elementwise<&packSmallHalves<format, true>>(d) : elementwise<&packSmallHalves<format, false>>(d);
  return d.unsupported();
}

template <const Format &format> Result<OperationPtr> decodeFromSmall(Decoding &d, const Suffixes &s) {
  if (s.rounding != Rn || s.satFinite || s.to != Type::F16x2)
    return d.unsupported();
  return s.relu ? elementwise<&unpackSmall<format, true>>(d) : elementwise<&unpackSmall<format, false>>(d);
}

template <bool up, bool satFinite> uint16_t packScales(float a, float b) {
  return uint16_t(encodeScale(a, up, satFinite) << 8 | encodeScale(b, up, satFinite));
}
template <bool up, bool satFinite> uint16_t packScaleHalves(uint32_t a) {
  return packScales<up, satFinite>(toFloat(BFloat16{uint16_t(a >> 16)}), toFloat(BFloat16{uint16_t(a)}));
}
uint32_t unpackScales(uint16_t a) {
  return uint32_t(narrow<BFloat16>(decodeScale(a >> 8)).bits) << 16 | narrow<BFloat16>(decodeScale(a & 0xff)).bits;
}

template <bool up, bool satFinite> Result<OperationPtr> packScalesFor(Decoding &d, Type from) {
  return from == Type::F32 ? elementwise<&packScales<up, satFinite>>(d)
                           : elementwise<&packScaleHalves<up, satFinite>>(d);
}

Result<OperationPtr> decodeToScale(Decoding &d, const Suffixes &s) {
  if ((s.rounding != Rz && s.rounding != Rp) || s.relu || (s.from != Type::F32 && s.from != Type::BF16x2))
    return d.unsupported();
  if (s.rounding == Rp)
    return s.satFinite ? packScalesFor<true, true>(d, s.from) : packScalesFor<true, false>(d, s.from);
  return s.satFinite ? packScalesFor<false, true>(d, s.from) : packScalesFor<false, false>(d, s.from);
}

// cvt.pack.sat.type.s32 d, a, b packs two 16-bit integers. With .b32 c, it packs narrower ones, and c is shifted left
// and occupies the bits above them.

template <unsigned bits, bool isSigned> uint32_t saturateTo(int32_t value) {
  constexpr int32_t largest = int32_t((1u << (isSigned ? bits - 1 : bits)) - 1), smallest = isSigned ? -largest - 1 : 0;
  value = value > largest ? largest : value < smallest ? smallest : value;
  return uint32_t(value) & ((1u << bits) - 1);
}
template <bool isSigned> uint32_t packShorts(int32_t a, int32_t b) {
  return saturateTo<16, isSigned>(a) << 16 | saturateTo<16, isSigned>(b);
}
template <unsigned bits, bool isSigned> uint32_t packSmallIntegers(int32_t a, int32_t b, uint32_t c) {
  return c << 2 * bits | saturateTo<bits, isSigned>(a) << bits | saturateTo<bits, isSigned>(b);
}

Result<OperationPtr> decodePack(Decoding &d) {
  if (!d.take("sat"))
    return d.unsupported();
  int type = d.takeOne({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (d.takeType() != Type::S32 || (type >= 2 && d.takeType() != Type::B32))
    return d.unsupported();
  switch (type) {
  case 0:
    return elementwise<&packShorts<false>>(d);
  case 1:
    return elementwise<&packShorts<true>>(d);
  case 2:
    return elementwise<&packSmallIntegers<8, false>>(d);
  case 3:
    return elementwise<&packSmallIntegers<8, true>>(d);
  case 4:
    return elementwise<&packSmallIntegers<4, false>>(d);
  case 5:
    return elementwise<&packSmallIntegers<4, true>>(d);
  case 6:
    return elementwise<&packSmallIntegers<2, false>>(d);
  case 7:
    return elementwise<&packSmallIntegers<2, true>>(d);
  }
  return d.unsupported();
}

} // namespace

bool isPackedConversion(const Decoding &d) {
  if (d.peek() == "pack")
    return true;
  for (const std::string &suffix : d.instruction.suffixes)
    switch (parseType(suffix).value_or(Type::None)) {
    case Type::F16x2:
    case Type::BF16x2:
    case Type::TF32:
    case Type::E4M3x2:
    case Type::E5M2x2:
    case Type::E2M1x2:
    case Type::E2M3x2:
    case Type::E3M2x2:
    case Type::UE8M0x2:
      return true;
    default:
      break;
    }
  return false;
}

Result<OperationPtr> decodePackedConversion(Decoding &d) {
  if (d.take("pack"))
    return decodePack(d);
  Suffixes s = takeSuffixes(d);
  switch (s.to) {
  case Type::TF32:
    return decodeTf32(d, s);
  case Type::E4M3x2:
    return decodeToSmall<e4m3Format>(d, s);
  case Type::E5M2x2:
    return decodeToSmall<e5m2Format>(d, s);
  case Type::E2M1x2:
    return decodeToSmall<e2m1Format>(d, s);
  case Type::E2M3x2:
    return decodeToSmall<e2m3Format>(d, s);
  case Type::E3M2x2:
    return decodeToSmall<e3m2Format>(d, s);
  case Type::UE8M0x2:
    return decodeToScale(d, s);
  default:
    break;
  }
  bool toHalves = s.to == Type::F16x2 || s.to == Type::BF16x2;
  if (toHalves && s.from == Type::F32 && (s.rounding == Rn || s.rounding == Rz)) {
    if (s.to == Type::F16x2)
      return s.rounding == Rn ? packHalvesFor<Half, Rounding::NearestEven>(d, s)
                              : packHalvesFor<Half, Rounding::Zero>(d, s);
    return s.rounding == Rn ? packHalvesFor<BFloat16, Rounding::NearestEven>(d, s)
                            : packHalvesFor<BFloat16, Rounding::Zero>(d, s);
  }
  switch (s.from) {
  case Type::E4M3x2:
    return decodeFromSmall<e4m3Format>(d, s);
  case Type::E5M2x2:
    return decodeFromSmall<e5m2Format>(d, s);
  case Type::E2M1x2:
    return decodeFromSmall<e2m1Format>(d, s);
  case Type::E2M3x2:
    return decodeFromSmall<e2m3Format>(d, s);
  case Type::E3M2x2:
    return decodeFromSmall<e3m2Format>(d, s);
  case Type::UE8M0x2:
    if (s.to == Type::BF16x2 && s.rounding == Rn && !s.relu && !s.satFinite)
      return elementwise<&unpackScales>(d);
    break;
  default:
    break;
  }
  return d.unsupported();
}

} // namespace tile::sim
