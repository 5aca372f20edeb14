// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generator's description of a value of the kernel: its type, its shape, and its range.
//
// Floating-point values are multiples of a power of two in a range that is small enough for all their sums and products
// to be exact in the type. So no order of summation and no fused multiplication changes a result, and all devices must
// agree on every bit.
#pragma once

#include "Frontend/Syntax/Types.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::fuzz {

using frontend::Scalar;
using Shape = std::vector<int64_t>;

/// Multiples of `step`, a power of two, from `low` to `high`. Integers beyond 2^53 are approximate.
struct Range {
  double low = 0;
  double high = 0;
  double step = 1;

  double magnitude() const;
  Range join(const Range &other) const;
};

struct Value {
  std::string text; ///< a name, a literal, or an expression in brackets
  Scalar type = Scalar::Int32;
  Shape shape; ///< empty: a scalar
  Range range;
  bool isWeak = false; ///< a literal, which takes the type of the other operand
};

bool isFloat(Scalar type);
bool isUnsigned(Scalar type); ///< i1 as well
unsigned bitsOf(Scalar type);
bool isNarrowFloat(Scalar type);       ///< 8 bits: only loaded, stored, converted and multiplied
std::string languageName(Scalar type); ///< tl.float16
std::string pointerName(Scalar type);  ///< *fp16

/// Returns the range of the type; for floats, the integers around 0 that are all exact.
Range rangeOf(Scalar type);
/// Returns true if every value of the range is representable in the type.
bool fits(Scalar type, const Range &range);
/// Returns the range of an integer after conversion to a narrower type.
Range wrap(Scalar type, const Range &range);

/// Returns the value rounded down to integers, if its range has other numbers.
Value floorOf(const Value &value);

int64_t elementsOf(const Shape &shape);
/// Broadcasts as in NumPy; nothing if the shapes are incompatible.
std::optional<Shape> broadcast(const Shape &left, const Shape &right);
std::string shapeText(const Shape &shape); ///< (16, 32)

/// Formats a value as in the language: 3, -2.5.
std::string numberText(double value, bool isFloat);

} // namespace tile::fuzz
