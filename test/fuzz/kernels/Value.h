// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the generator knows of a value of the kernel that it writes: its type, its shape, and what numbers it can have.
//
// Numbers of floating-point values are multiples of a power of two, and few enough that every sum and product of them
// is exact in its type. So no order of summation and no fused multiplication changes a result, and all devices must
// agree on every bit.
#pragma once

#include "Frontend/Syntax/Types.h"

#include <optional>
#include <string>
#include <vector>

namespace tile::fuzz {

using frontend::Scalar;
using Shape = std::vector<int64_t>;

/// Multiples of `step`, a power of two, from `low` to `high`. Integers beyond 2^53 are known roughly.
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
  bool isWeak = false; ///< a literal, which takes the type of what it meets
};

bool isFloat(Scalar type);
bool isUnsigned(Scalar type); ///< i1 as well
unsigned bitsOf(Scalar type);
bool isNarrowFloat(Scalar type);       ///< 8 bits: only loaded, stored, converted and multiplied
std::string languageName(Scalar type); ///< tl.float16
std::string pointerName(Scalar type);  ///< *fp16

/// What the type can hold. For floats: the integers around 0 that are all exact.
Range rangeOf(Scalar type);
/// Whether every number of the range is one of the type.
bool fits(Scalar type, const Range &range);
/// Of an integer: what is left of the range in a narrower type.
Range wrap(Scalar type, const Range &range);

/// Rounded down to integers, if there are others.
Value floorOf(const Value &value);

int64_t elementsOf(const Shape &shape);
/// As NumPy does; nothing if they do not meet.
std::optional<Shape> broadcast(const Shape &left, const Shape &right);
std::string shapeText(const Shape &shape); ///< (16, 32)

/// As the language writes it: 3, -2.5.
std::string numberText(double value, bool isFloat);

} // namespace tile::fuzz
