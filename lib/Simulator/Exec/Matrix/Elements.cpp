// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Matrix/Elements.h"

#include "Simulator/Numerics/Formats.h"

#include <array>
#include <bit>
#include <cmath>

namespace tile::sim::matrix {

namespace {

using namespace numerics;

/// An element as the tensor core uses it: its value and power (see Factor). `isSpecial` means infinity or NaN.
template <typename Real> struct Decoded {
  Real value, power;
  bool isSpecial;
};

Decoded<float> decodeHalf(uint32_t bits) {
  uint32_t magnitude = bits & 0x7fff, exponent = magnitude >> 10;
  bool isSpecial = exponent == 31, isZero = magnitude == 0;
  float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f; // exact, including subnormals
  uint32_t value = std::bit_cast<uint32_t>(scaled) | (bits & 0x8000) << 16;
  uint32_t power = (exponent + (exponent == 0) + 127 - 15) << 23;
  return {std::bit_cast<float>(isSpecial ? 0 : value), std::bit_cast<float>(isSpecial || isZero ? 0 : power),
          isSpecial};
}

/// Decodes bf16 or tf32, whose bits are the upper bits of a float.
Decoded<double> decodeWide(uint32_t bits) {
  uint32_t magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;
  bool isSpecial = exponent == 255, isZero = magnitude == 0;
  uint32_t power = (exponent + (exponent == 0)) << 23;
  return {std::bit_cast<float>(isSpecial ? 0 : bits), std::bit_cast<float>(isSpecial || isZero ? 0 : power), isSpecial};
}

template <const Format &format> std::array<Decoded<float>, 256> makeTable() {
  std::array<Decoded<float>, 256> table;
  for (uint32_t bits = 0; bits < 256; ++bits) {
    double value = decode<format>(bits);
    uint32_t exponent = bits >> format.mantissaBits & ((1u << format.exponentBits) - 1);
    double power = powerOfTwo(int(exponent) + (exponent == 0) - format.bias);
    bool isSpecial = !std::isfinite(value);
    table[bits] = {isSpecial ? 0 : float(value), isSpecial || value == 0 ? 0 : float(power), isSpecial};
  }
  return table;
}

const std::array<Decoded<float>, 256> &smallTable(Element element) {
  static const auto e4m3 = makeTable<e4m3Format>(), e5m2 = makeTable<e5m2Format>(), e2m3 = makeTable<e2m3Format>(),
                    e3m2 = makeTable<e3m2Format>(), e2m1 = makeTable<e2m1Format>();
  switch (element) {
  case Element::E4M3:
    return e4m3;
  case Element::E2M3:
    return e2m3;
  case Element::E3M2:
    return e3m2;
  case Element::E2M1:
    return e2m1;
  default:
    return e5m2;
  }
}

/// Decodes all elements. Returns true if any of them is special.
template <typename Real, typename Function>
bool decodeAll(const FactorBits &from, Real *value, Real *power, Function &&decodeOne) {
  uint32_t any = 0;
  const uint32_t *bits = from.bits.data();
  for (size_t i = 0, size = from.bits.size(); i < size; ++i) {
    Decoded<Real> decoded = decodeOne(bits[i]);
    value[i] = decoded.value;
    power[i] = decoded.power;
    any |= decoded.isSpecial;
  }
  return any;
}

} // namespace

template <typename Real>
Factor<Real>::Factor(const FactorBits &from, Element element)
    : lines(from.lines), depth(from.depth), value(new Real[from.bits.size()]), power(new Real[from.bits.size()]) {
  bool any = false;
  if constexpr (std::is_same_v<Real, float>) {
    if (element == Element::F16)
      any = decodeAll(from, value.get(), power.get(), decodeHalf);
    else
      any = decodeAll(from, value.get(), power.get(),
                      [&table = smallTable(element)](uint32_t bits) { return table[bits & 0xff]; });
  } else if (isSmallFloat(element)) {
    any = decodeAll(from, value.get(), power.get(), [&table = smallTable(element)](uint32_t bits) {
      const Decoded<float> &decoded = table[bits & 0xff];
      return Decoded<double>{decoded.value, decoded.power, decoded.isSpecial};
    });
  } else if (element == Element::BF16) {
    any = decodeAll(from, value.get(), power.get(), [](uint32_t bits) { return decodeWide(bits << 16); });
  } else { // the tensor core ignores the lower bits of a tf32 register
    any = decodeAll(from, value.get(), power.get(), [](uint32_t bits) { return decodeWide(bits & 0xffffe000); });
  }
  if (!any)
    return;
  special.resize(lines);
  for (size_t i = 0; i < from.bits.size(); ++i)
    special[i % lines] |= !std::isfinite(toDouble(element, from.bits[i]));
}

template <typename Real> void Factor<Real>::scale(const BlockScales &scales) {
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned line = 0; line < lines; ++line) {
      const size_t at = size_t(k) * lines + line, from = size_t(k / scales.blockSize) * scales.lines + line;
      const bool isNan = std::isnan(scales.value[from]);
      value[at] *= isNan ? Real(0) : Real(scales.value[from]);
      power[at] *= Real(scales.power[from]);
      if (isNan) {
        special.resize(lines);
        special[line] = true;
      }
    }
}

bool hasNan(const BlockScales &scales, unsigned line) {
  for (size_t at = line; at < scales.value.size(); at += scales.lines)
    if (std::isnan(scales.value[at]))
      return true;
  return false;
}

void addScale(BlockScales &scales, ScaleType type, uint8_t bits) {
  if (type == ScaleType::UE8M0) {
    constexpr uint8_t nan = 0xff;
    scales.value.push_back(bits == nan ? std::nan("") : powerOfTwo(int(bits) - 127));
    scales.power.push_back(bits == nan ? 0 : scales.value.back());
    return;
  }
  const Decoded<float> &decoded = smallTable(Element::E4M3)[bits & 0x7f]; // the sign is ignored
  scales.value.push_back(decoded.isSpecial ? std::nan("") : decoded.value);
  scales.power.push_back(decoded.power);
}

template struct Factor<float>;
template struct Factor<double>;

double toDouble(Element element, uint32_t bits) {
  switch (element) {
  case Element::F16:
    return decode<halfFormat>(bits);
  case Element::BF16:
    return decode<bfloat16Format>(bits);
  case Element::TF32:
    return decode<tf32Format>(bits >> 13);
  case Element::E4M3:
    return decode<e4m3Format>(bits);
  case Element::E2M3:
    return decode<e2m3Format>(bits);
  case Element::E3M2:
    return decode<e3m2Format>(bits);
  case Element::E2M1:
    return decode<e2m1Format>(bits);
  default:
    return decode<e5m2Format>(bits);
  }
}

uint32_t toHalf(Element element, uint32_t bits) {
  return encode<halfFormat>(toDouble(element, bits));
}

std::vector<int32_t> toIntegers(const FactorBits &from, Element element) {
  std::vector<int32_t> integers(from.bits.size());
  unsigned unused = 32 - bitsOf(element);
  bool isSigned = element == Element::S8 || element == Element::S4;
  for (size_t i = 0; i < integers.size(); ++i) {
    uint32_t top = from.bits[i] << unused;
    integers[i] = isSigned ? int32_t(top) >> unused : int32_t(top >> unused);
  }
  return integers;
}

} // namespace tile::sim::matrix
