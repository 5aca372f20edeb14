// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bit operations: PTX ISA 9.7.1 (popc … bmsk), 9.7.8 (logic and shifts), 9.7.9.7 (prmt).
#pragma once

#include "Simulator/Numerics/Integer.h"

namespace tile::sim::numerics {

template <typename T> inline uint32_t countOnes(T a) {
  return uint32_t(std::popcount(a));
}
template <typename T> inline uint32_t countLeadingZeros(T a) {
  return uint32_t(std::countl_zero(a));
}

/// Returns the position of the highest bit that differs from the sign bit, or with `shiftAmount` its distance from the
/// top. Returns ~0 if there is no such bit.
template <typename T, bool shiftAmount> inline uint32_t findBit(T a) {
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned bits = Unsigned(std::is_signed_v<T> && a < 0 ? ~a : a);
  uint32_t zeros = uint32_t(std::countl_zero(bits));
  if (bits == 0)
    return ~0u;
  return shiftAmount ? zeros : bitsIn<T> - 1 - zeros;
}

/// Returns the position of the offset-th set bit from `base` on, searching upwards or (offset < 0) downwards; ~0 if
/// there is none.
inline uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  int64_t position = base & 31;
  if (offset == 0)
    return mask >> position & 1 ? uint32_t(position) : ~0u;
  int step = offset > 0 ? 1 : -1;
  for (int64_t left = offset > 0 ? int64_t(offset) : -int64_t(offset); position >= 0 && position < 32; position += step)
    if ((mask >> position & 1) && --left == 0)
      return uint32_t(position);
  return ~0u;
}

template <typename T> inline T reverseBits(T a) {
  constexpr T all = T(~T(0));
  // Exchanges neighbours of growing width: bits, pairs, nibbles, …, halves.
  for (unsigned width = 1; width < bitsIn<T>; width *= 2) {
    T lower = all / ((T(1) << width) + 1); // the lower group of each pair of groups of `width` bits
    a = T((a >> width & lower) | (a & lower) << width);
  }
  return a;
}

/// Returns a position or length of a bit field. For 32-bit values only the low 8 bits of the operand count; for 64-bit
/// values all bits count here (the ISA does not define values above 255).
template <typename T> inline uint32_t fieldOperand(uint32_t value) {
  return sizeof(T) == 4 ? value & 0xff : value;
}

/// Returns `length` bits of a from `position` on. If T is signed, the result is sign-extended from the highest bit of
/// the field that lies within a.
template <typename T> inline T extractField(T a, uint32_t position, uint32_t length) {
  using Unsigned = std::make_unsigned_t<T>;
  position = fieldOperand<T>(position);
  length = fieldOperand<T>(length);
  if (length == 0)
    return 0;
  uint64_t last = uint64_t(position) + length - 1;
  unsigned signPosition = last < bitsIn<T> ? unsigned(last) : bitsIn<T> - 1;
  bool fill = std::is_signed_v<T> && (Unsigned(a) >> signPosition & 1);
  Unsigned value = position < bitsIn<T> ? Unsigned(Unsigned(a) >> position) : Unsigned(0);
  unsigned have = position < bitsIn<T> ? bitsIn<T> - position : 0;
  have = have < length ? have : length;
  Unsigned mask = have == bitsIn<T> ? Unsigned(~Unsigned(0)) : Unsigned((Unsigned(1) << have) - 1);
  return T((value & mask) | (fill ? Unsigned(~mask) : Unsigned(0)));
}
/// Returns b with `length` bits from `position` on replaced by the low bits of a.
template <typename T> inline T insertField(T a, T b, uint32_t position, uint32_t length) {
  position = fieldOperand<T>(position);
  length = fieldOperand<T>(length);
  if (length == 0 || position >= bitsIn<T>)
    return b;
  T mask = length >= bitsIn<T> ? T(~T(0)) : T((T(1) << length) - 1);
  mask = T(mask << position);
  return T((b & T(~mask)) | (T(a << position) & mask));
}

/// Returns the low `count` bits, sign- or zero-extended. A count above 32 is clamped, or wraps around.
template <typename T, bool clamp> inline T extendBits(T a, uint32_t count) {
  count = clamp ? (count > 32 ? 32 : count) : count & 31;
  if (count == 0)
    return 0;
  if (count == 32)
    return a;
  return T(T(uint32_t(a) << (32 - count)) >> (32 - count));
}
/// Returns a mask of `count` ones from bit `position` on.
template <bool clamp> inline uint32_t maskOfBits(uint32_t position, uint32_t count) {
  position = clamp ? (position > 32 ? 32 : position) : position & 31;
  count = clamp ? (count > 32 ? 32 : count) : count & 31;
  uint64_t ones = (uint64_t(1) << count) - 1;
  return uint32_t(ones << position);
}

/// PTX shifts clamp the count to the width of the value.
template <typename T> inline T shiftLeft(T a, uint32_t count) {
  return count >= bitsIn<T> ? T(0) : T(Wrapping<T>(a) << count);
}
template <typename T> inline T shiftRight(T a, uint32_t count) {
  if constexpr (std::is_signed_v<T>)
    return T(a >> (count >= bitsIn<T> ? bitsIn<T> - 1 : count));
  else
    return count >= bitsIn<T> ? T(0) : T(a >> count);
}
/// Shifts the 64 bits {b, a} left and returns the upper half, or shifts them right and returns the lower half.
template <bool isLeft, bool clamp> inline uint32_t funnelShift(uint32_t a, uint32_t b, uint32_t count) {
  count = clamp ? (count > 32 ? 32 : count) : count & 31;
  uint64_t both = uint64_t(b) << 32 | a;
  return isLeft ? uint32_t((both << count) >> 32) : uint32_t(both >> count);
}

template <typename T> inline T bitAnd(T a, T b) {
  return a & b;
}
template <typename T> inline T bitOr(T a, T b) {
  return a | b;
}
template <typename T> inline T bitXor(T a, T b) {
  return a ^ b;
}
template <typename T> inline T bitNot(T a) {
  return T(~a);
}
template <typename T> inline T logicalNot(T a) {
  return a == 0;
}
enum class Permute : uint8_t { Select, Forward4, Backward4, Replicate8, EdgeLeft, EdgeRight, Replicate16 };

/// Returns the bytes of {b, a} that the nibbles of the selector name. If bit 3 of a nibble is set, the sign of the byte
/// is replicated instead.
template <Permute mode> inline uint32_t permuteBytes(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t bytes = uint64_t(b) << 32 | a;
  unsigned by = selector & 3;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned from = 0;
    bool sign = false;
    switch (mode) {
    case Permute::Select:
      from = selector >> 4 * i & 7;
      sign = selector >> 4 * i & 8;
      break;
    case Permute::Forward4:
      from = by + i;
      break;
    case Permute::Backward4:
      from = (by - i) & 7;
      break;
    case Permute::Replicate8:
      from = by;
      break;
    case Permute::EdgeLeft:
      from = i > by ? i : by;
      break;
    case Permute::EdgeRight:
      from = i < by ? i : by;
      break;
    case Permute::Replicate16:
      from = (by & 1) * 2 + (i & 1);
      break;
    }
    uint32_t byte = uint32_t(bytes >> 8 * from) & 0xff;
    if (sign)
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

} // namespace tile::sim::numerics
