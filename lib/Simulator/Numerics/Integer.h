// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer arithmetic: PTX ISA 9.7.1, 9.7.2. T is a fixed-width integer. All operations wrap around, and none has
// undefined behaviour.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tile::sim::numerics {

template <typename T> struct WiderOf;
template <> struct WiderOf<int8_t> {
  using type = int16_t;
};
template <> struct WiderOf<uint8_t> {
  using type = uint16_t;
};
template <> struct WiderOf<int16_t> {
  using type = int32_t;
};
template <> struct WiderOf<uint16_t> {
  using type = uint32_t;
};
template <> struct WiderOf<int32_t> {
  using type = int64_t;
};
template <> struct WiderOf<uint32_t> {
  using type = uint64_t;
};
template <> struct WiderOf<int64_t> {
  using type = __int128;
};
template <> struct WiderOf<uint64_t> {
  using type = unsigned __int128;
};
template <typename T> using Wider = typename WiderOf<T>::type;
template <typename T> constexpr unsigned bitsIn = 8 * sizeof(T);
/// The unsigned type of at least 32 bits in which wrapping arithmetic is done, without promotion to a signed int.
template <typename T> using Wrapping = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;

template <typename T> inline T wrappingAdd(T a, T b) {
  return T(Wrapping<T>(a) + Wrapping<T>(b));
}
template <typename T> inline T wrappingSub(T a, T b) {
  return T(Wrapping<T>(a) - Wrapping<T>(b));
}
template <typename T> inline T mulLow(T a, T b) {
  return T(Wrapping<T>(a) * Wrapping<T>(b));
}
template <typename T> inline Wider<T> mulWide(T a, T b) {
  return Wider<T>(a) * Wider<T>(b);
}
template <typename T> inline T mulHigh(T a, T b) {
  return T(mulWide(a, b) >> bitsIn<T>);
}
template <typename T> inline T madLow(T a, T b, T c) {
  return wrappingAdd(mulLow(a, b), c);
}
template <typename T> inline T madHigh(T a, T b, T c) {
  return wrappingAdd(mulHigh(a, b), c);
}
template <typename T> inline Wider<T> madWide(T a, T b, Wider<T> c) {
  return wrappingAdd(mulWide(a, b), c);
}

template <typename T> inline T clampTo(Wider<T> value) {
  using Limits = std::numeric_limits<T>;
  return value > Wider<T>(Limits::max()) ? Limits::max() : value < Wider<T>(Limits::min()) ? Limits::min() : T(value);
}
template <typename T> inline T addSaturating(T a, T b) {
  return clampTo<T>(Wider<T>(a) + Wider<T>(b));
}
template <typename T> inline T subSaturating(T a, T b) {
  return clampTo<T>(Wider<T>(a) - Wider<T>(b));
}
template <typename T> inline T madHighSaturating(T a, T b, T c) {
  return addSaturating(mulHigh(a, b), c);
}

/// Returns the low 24 bits of a 32-bit value, sign- or zero-extended.
template <typename T> inline int64_t low24(T value) {
  if constexpr (std::is_signed_v<T>)
    return int32_t(uint32_t(value) << 8) >> 8;
  else
    return value & 0xffffff;
}
template <typename T> inline T mul24Low(T a, T b) {
  return T(uint64_t(low24(a)) * uint64_t(low24(b)));
}
/// Returns the upper 32 bits of the 48-bit product.
template <typename T> inline T mul24High(T a, T b) {
  return T((low24(a) * low24(b)) >> 16);
}
template <typename T> inline T mad24Low(T a, T b, T c) {
  return wrappingAdd(mul24Low(a, b), c);
}
template <typename T> inline T mad24High(T a, T b, T c) {
  return wrappingAdd(mul24High(a, b), c);
}
template <typename T> inline T mad24HighSaturating(T a, T b, T c) {
  return addSaturating(mul24High(a, b), c);
}

/// Divides. Division by zero is unspecified in PTX; as in ptxas's code for it, quotient and remainder are all ones.
template <typename T> inline T divide(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if (std::is_signed_v<T> && b == T(-1))
    return wrappingSub(T(0), a); // the smallest value has no negative in T
  return T(a / b);
}
template <typename T> inline T remainder(T a, T b) {
  if (b == 0)
    return T(~T(0));
  if (std::is_signed_v<T> && b == T(-1))
    return 0;
  return T(a % b);
}

template <typename T> inline T minimum(T a, T b) {
  return b < a ? b : a;
}
template <typename T> inline T maximum(T a, T b) {
  return b > a ? b : a;
}
template <typename T> inline T minimumRelu(T a, T b) {
  return maximum(minimum(a, b), T(0));
}
template <typename T> inline T maximumRelu(T a, T b) {
  return maximum(maximum(a, b), T(0));
}
template <typename T> inline T absoluteValue(T a) {
  return a < 0 ? wrappingSub(T(0), a) : a;
}
template <typename T> inline T negate(T a) {
  return wrappingSub(T(0), a);
}
/// Returns c + |a - b|.
template <typename T> inline T sumOfDifference(T a, T b, T c) {
  return wrappingAdd(c, a < b ? wrappingSub(b, a) : wrappingSub(a, b));
}

/// Returns c plus the dot product of the four bytes of a and b; A and B are int8_t or uint8_t.
template <typename A, typename B> inline uint32_t dotBytes(uint32_t a, uint32_t b, uint32_t c) {
  for (int byte = 0; byte < 4; ++byte)
    c += uint32_t(int32_t(A(a >> 8 * byte)) * int32_t(B(b >> 8 * byte)));
  return c;
}
/// Returns c plus the dot product of the two 16-bit halves of a and two bytes of b, the upper two with `upper`.
template <typename A, typename B, bool upper> inline uint32_t dotHalves(uint32_t a, uint32_t b, uint32_t c) {
  for (int part = 0; part < 2; ++part)
    c += uint32_t(int32_t(A(a >> 16 * part)) * int32_t(B(b >> (8 * part + (upper ? 16 : 0)))));
  return c;
}

} // namespace tile::sim::numerics
