// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons of two values per lane, as masks, for setp and set.
//
// The 18 relations of PTX are derived from four (=, <>, <, <=) and "both are numbers" by exchanging the operands or
// negating the result. For example, `a ltu b` on floats (less or unordered) is not (b <= a). PTX ISA 9.7.6, 9.7.7.
#pragma once

#include "Simulator/Exec/Arithmetic/Elementwise.h"

namespace tile::sim {

enum class Relation : uint8_t { Equal, NotEqual, Less, LessEqual, Ordered };

struct ComparisonKind {
  Relation relation = Relation::Equal;
  bool exchange = false;
  bool negate = false;
};

/// Takes the name of a relation of integers (eq ne lt le gt ge lo ls hi hs) or floats (eq … ge equ … geu num nan).
std::optional<ComparisonKind> takeComparison(Decoding &d, bool isFloat, bool isUnsigned);

enum class Boolean : uint8_t { None, And, Or, Xor };
Boolean takeBoolean(Decoding &d);
inline LaneMask combine(Boolean boolean, LaneMask a, LaneMask b) {
  switch (boolean) {
  case Boolean::And:
    return a & b;
  case Boolean::Or:
    return a | b;
  case Boolean::Xor:
    return a ^ b;
  case Boolean::None:
    break;
  }
  return a;
}

/// Returns a value that can be compared with < and ==.
inline float comparable(Half value) {
  return numerics::toFloat(value);
}
inline float comparable(BFloat16 value) {
  return numerics::toFloat(value);
}
template <typename T> inline T comparable(T value) {
  return value;
}

template <typename T, typename Function>
LaneMask compareLanes(const T *a, const T *b, unsigned stride, Function &&holds) {
  LaneMask mask = 0;
  for (unsigned lane = 0; lane < warpSize; ++lane)
    mask |= holds(comparable(a[lane * stride]), comparable(b[lane * stride])) ? LaneMask(1) << lane : 0;
  return mask;
}

/// Compares the values of a and b at indices 0, stride, 2 * stride, …
template <typename T> LaneMask compare(ComparisonKind kind, const T *a, const T *b, unsigned stride) {
  if (kind.exchange)
    std::swap(a, b);
  LaneMask mask = 0;
  switch (kind.relation) {
  case Relation::Equal:
    mask = compareLanes(a, b, stride, [](auto x, auto y) { return x == y; });
    break;
  case Relation::NotEqual: // false if an operand is NaN
    mask = compareLanes(a, b, stride, [](auto x, auto y) { return x < y || y < x; });
    break;
  case Relation::Less:
    mask = compareLanes(a, b, stride, [](auto x, auto y) { return x < y; });
    break;
  case Relation::LessEqual:
    mask = compareLanes(a, b, stride, [](auto x, auto y) { return x <= y; });
    break;
  case Relation::Ordered:
    mask = compareLanes(a, b, stride, [](auto x, auto y) { return x == x && y == y; });
    break;
  }
  return kind.negate ? ~mask : mask;
}

/// Two sources to compare. A register holds `parts` values of type T.
template <typename T, unsigned parts> class ComparedSources {
public:
  using Register = typename RegisterOf<parts, T>::type;

  ComparedSources(Decoding &d, size_t first, ComparisonKind kind, bool flush)
      : kind(kind), flush(flush), a(d.source<Register>(first)), b(d.source<Register>(first + 1)) {}

  /// Computes one mask for each part.
  void read(const Warp &warp, LaneMask (&masks)[parts]) const {
    alignas(64) Register scratch[2][warpSize];
    const T *x = values(warp, a, scratch[0]), *y = values(warp, b, scratch[1]);
    for (unsigned part = 0; part < parts; ++part)
      masks[part] = compare(kind, x + part, y + part, parts);
  }

private:
  const T *values(const Warp &warp, const Source<Register> &source, Register (&scratch)[warpSize]) const {
    const Register *from = source.read(warp, scratch);
    if (isFloat<T> && flush) {
      if (from != scratch)
        std::memcpy(scratch, from, sizeof(scratch));
      flushAll(reinterpret_cast<T *>(scratch), warpSize * parts);
      from = scratch;
    }
    return reinterpret_cast<const T *>(from);
  }
  ComparisonKind kind;
  bool flush;
  Source<Register> a, b;
};

} // namespace tile::sim
