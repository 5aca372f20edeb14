// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of interval arithmetic. Bounds are computed with 128 bits and then compared with the limits of the type.
#include "Analysis/Addresses/IntegerRange.h"

#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

#include <array>

using namespace mlir;
using namespace tile;

using Wide = __int128;
using OperandRanges = ArrayRef<IntegerRange>;

/// The usual maximum number of programs along each dimension of the grid: with blocks of 65,536 elements, this many
/// programs have 32-bit offsets.
static constexpr int64_t usualPrograms = 1 << 15;

static unsigned getWidth(Type type) {
  Type element = getElementTypeOf(type);
  return element.isInteger() ? element.getIntOrFloatBitWidth() : 64;
}

IntegerRange IntegerRange::ofType(Type type) {
  unsigned width = getWidth(type);
  if (width >= 64)
    return {};
  int64_t end = int64_t(1) << (width - 1);
  return {-end, end - 1, end - 1};
}

IntegerRange IntegerRange::ofPrograms(int64_t count) {
  return {0, count - 1, std::min(count, usualPrograms) - 1};
}

IntegerRange IntegerRange::intersect(const IntegerRange &other) const {
  return {std::max(smallest, other.smallest), std::min(largest, other.largest), std::min(usual, other.usual)};
}

IntegerRange IntegerRange::unite(const IntegerRange &other) const {
  return {std::min(smallest, other.smallest), std::max(largest, other.largest), std::max(usual, other.usual)};
}

IntegerRange IntegerRange::widen(const IntegerRange &other) const {
  auto raise = [](int64_t bound, int64_t value) {
    if (value <= bound)
      return bound;
    for (unsigned bits : {8, 16, 31})
      if (value < int64_t(1) << bits)
        return (int64_t(1) << bits) - 1;
    return std::numeric_limits<int64_t>::max();
  };
  int64_t below = other.smallest >= 0                                     ? 0
                  : other.smallest >= std::numeric_limits<int32_t>::min() ? std::numeric_limits<int32_t>::min()
                                                                          : std::numeric_limits<int64_t>::min();
  return {other.smallest >= smallest ? smallest : std::min(smallest, below), raise(largest, other.largest),
          raise(usual, other.usual)};
}

namespace {

/// Bounds before they are clamped to the type.
struct Bounds {
  Wide smallest, largest, usual;
};

/// Returns the bounds clamped to the type, or all values of the type if the result may wrap around. With `mayCount`, a
/// result that wraps around only in unusually large grids counts as one that does not.
IntegerRange fit(const Bounds &bounds, Type type, bool mayCount = true) {
  IntegerRange limits = IntegerRange::ofType(type);
  if (bounds.smallest < limits.smallest || bounds.usual > limits.largest ||
      (bounds.largest > limits.largest && !mayCount))
    return limits;
  auto cut = [&](Wide value) { return int64_t(std::clamp<Wide>(value, limits.smallest, limits.largest)); };
  return {cut(bounds.smallest), cut(bounds.largest), cut(std::min(bounds.usual, bounds.largest))};
}

/// Returns the range of an operation that is monotonic in each operand for every value of the other operand.
template <typename Fn> Bounds atCorners(const IntegerRange &a, const IntegerRange &b, Fn compute) {
  auto corners = [&](Wide aEnd, Wide bEnd) {
    return std::array<Wide, 4>{compute(Wide(a.smallest), Wide(b.smallest)), compute(Wide(a.smallest), bEnd),
                               compute(aEnd, Wide(b.smallest)), compute(aEnd, bEnd)};
  };
  auto all = corners(a.largest, b.largest), usual = corners(a.usual, b.usual);
  return {*llvm::min_element(all), *llvm::max_element(all), *llvm::max_element(usual)};
}

bool isBlockSize(const IntegerRange &factor) {
  return factor.smallest == factor.largest && factor.smallest > 0 &&
         (factor.smallest % 16 == 0 || llvm::isPowerOf2_64(factor.smallest));
}

IntegerRange inferProduct(Type type, const IntegerRange &a, const IntegerRange &b) {
  // A product of other factors is not the offset of a block; it may be, for example, a random integer.
  return fit(atCorners(a, b, std::multiplies<Wide>()), type, isBlockSize(a) || isBlockSize(b));
}

/// Returns the range of the quotient rounded towards zero. If the divisor may have either sign, this is the union of
/// both cases.
IntegerRange inferQuotient(Type type, const IntegerRange &a, const IntegerRange &b) {
  std::optional<Bounds> bounds;
  auto addPart = [&](IntegerRange divisor) {
    if (divisor.smallest > divisor.largest)
      return;
    divisor.usual = std::clamp(divisor.usual, divisor.smallest, divisor.largest);
    Bounds part = atCorners(a, divisor, std::divides<Wide>());
    bounds = !bounds ? part
                     : Bounds{std::min(bounds->smallest, part.smallest), std::max(bounds->largest, part.largest),
                              std::max(bounds->usual, part.usual)};
  };
  addPart({std::max<int64_t>(b.smallest, 1), b.largest, b.usual});
  addPart({b.smallest, std::min<int64_t>(b.largest, -1), b.usual});
  return bounds ? fit(*bounds, type) : IntegerRange::ofType(type); // the divisor is zero
}

/// Returns the range of the remainder, which has the sign of the dividend and a smaller magnitude than the divisor.
IntegerRange inferRemainder(const IntegerRange &a, const IntegerRange &b) {
  Wide most = std::max(std::max(-Wide(b.smallest), Wide(b.largest)) - 1, Wide(0));
  auto limit = [&](int64_t value) { return int64_t(std::clamp<Wide>(value, -most, most)); };
  return {a.smallest < 0 ? limit(a.smallest) : 0, a.largest > 0 ? limit(a.largest) : 0,
          std::max<int64_t>(limit(a.usual), 0)};
}

IntegerRange upTo(Wide largest, Type type) {
  return fit({0, largest, largest}, type);
}

Wide getUnsignedEnd(Type type) {
  return (Wide(1) << getWidth(type)) - 1;
}

IntegerRange inferUnsignedQuotient(Type type, const IntegerRange &a, const IntegerRange &b) {
  if (b.smallest <= 0)
    return a.isNonNegative() ? IntegerRange{0, a.largest, a.usual} : IntegerRange::ofType(type);
  return a.isNonNegative() ? inferQuotient(type, a, b) : upTo(getUnsignedEnd(type) / b.smallest, type);
}

IntegerRange inferUnsignedRemainder(Type type, const IntegerRange &a, const IntegerRange &b) {
  if (b.smallest <= 0)
    return a.isNonNegative() ? IntegerRange{0, a.largest, a.usual} : IntegerRange::ofType(type);
  return a.isNonNegative() ? inferRemainder(a, b) : upTo(Wide(b.largest) - 1, type);
}

/// Returns the smallest 2^n - 1 that is not less than `value`, which must be non-negative.
int64_t fillBits(int64_t value) {
  return int64_t(llvm::maskTrailingOnes<uint64_t>(llvm::bit_width(uint64_t(value))));
}

IntegerRange inferAnd(Type type, const IntegerRange &a, const IntegerRange &b) {
  if (a.isNonNegative() && b.isNonNegative())
    return {0, std::min(a.largest, b.largest), std::min(a.usual, b.usual)};
  if (a.isNonNegative() || b.isNonNegative())
    return {0, a.isNonNegative() ? a.largest : b.largest, a.isNonNegative() ? a.usual : b.usual};
  return IntegerRange::ofType(type);
}

IntegerRange inferOr(Type type, const IntegerRange &a, const IntegerRange &b) {
  if (!a.isNonNegative() || !b.isNonNegative())
    return IntegerRange::ofType(type);
  return {0, fillBits(std::max(a.largest, b.largest)), fillBits(std::max(a.usual, b.usual))};
}

IntegerRange inferLeftShift(Type type, const IntegerRange &a, const IntegerRange &b) {
  // A shift by at least the width gives zero.
  if (b.smallest < 0 || b.largest >= getWidth(type))
    return IntegerRange::ofType(type);
  IntegerRange factor{int64_t(1) << std::min<int64_t>(b.smallest, 62), int64_t(1) << std::min<int64_t>(b.largest, 62),
                      0};
  factor.usual = factor.largest;
  return b.largest > 62 ? IntegerRange::ofType(type) : inferProduct(type, a, factor);
}

/// Returns the range of a right shift. A signed shift by the width or more fills the result with the sign bit.
IntegerRange inferRightShift(Type type, const IntegerRange &a, const IntegerRange &b, bool isSigned) {
  int64_t last = getWidth(type) - 1, least = b.smallest < 0 ? 0 : std::min(b.smallest, last);
  int64_t most = b.smallest < 0 ? last : std::min(b.largest, last);
  if (!isSigned && !a.isNonNegative())
    return least == 0 ? IntegerRange::ofType(type) : upTo(getUnsignedEnd(type) >> least, type);
  auto shift = [&](int64_t value, int64_t bySmallest, int64_t otherwise) {
    return value < 0 ? value >> bySmallest : value >> otherwise;
  };
  // An unsigned shift by the width or more gives zero.
  int64_t below = !isSigned && b.largest > last ? 0 : shift(a.smallest, least, most);
  return {below, shift(a.largest, most, least), shift(a.usual, most, least)};
}

IntegerRange inferMinimum(const IntegerRange &a, const IntegerRange &b) {
  return {std::min(a.smallest, b.smallest), std::min(a.largest, b.largest), std::min(a.usual, b.usual)};
}
IntegerRange inferMaximum(const IntegerRange &a, const IntegerRange &b) {
  return {std::max(a.smallest, b.smallest), std::max(a.largest, b.largest), std::max(a.usual, b.usual)};
}

/// Returns the range of a value that is zero-extended, possibly from a narrower type.
IntegerRange inferZeroExtension(Type from, Type to, const IntegerRange &a) {
  return a.isNonNegative() ? a : upTo(getUnsignedEnd(from), to);
}

bool areNonNegative(OperandRanges operands) {
  return llvm::all_of(operands, [](const IntegerRange &range) { return range.isNonNegative(); });
}

} // namespace

static std::optional<IntegerRange> inferBinary(Operation *op, Type type, const IntegerRange &a, const IntegerRange &b) {
  using Result = std::optional<IntegerRange>;
  auto limits = IntegerRange::ofType(type);
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](arith::AddIOp) { return fit(atCorners(a, b, std::plus<Wide>()), type); })
      .Case([&](arith::SubIOp) {
        return fit({Wide(a.smallest) - b.largest, Wide(a.largest) - b.smallest, Wide(a.usual) - b.smallest}, type);
      })
      .Case([&](arith::MulIOp) { return inferProduct(type, a, b); })
      .Case([&](arith::DivSIOp) { return inferQuotient(type, a, b); })
      .Case<arith::FloorDivSIOp, arith::CeilDivSIOp>([&](Operation *) {
        // The result may be one less (floor) or one more (ceil) than the quotient rounded towards zero.
        IntegerRange quotient = inferQuotient(type, a, b);
        bool isFloor = isa<arith::FloorDivSIOp>(op), isExact = isFloor && a.isNonNegative() && b.isNonNegative();
        return isExact ? quotient
                       : fit({Wide(quotient.smallest) - isFloor, Wide(quotient.largest) + !isFloor,
                              Wide(quotient.usual) + !isFloor},
                             type);
      })
      .Case([&](arith::DivUIOp) { return inferUnsignedQuotient(type, a, b); })
      .Case([&](arith::RemSIOp) { return inferRemainder(a, b); })
      .Case([&](arith::RemUIOp) { return inferUnsignedRemainder(type, a, b); })
      .Case([&](arith::AndIOp) { return inferAnd(type, a, b); })
      .Case<arith::OrIOp, arith::XOrIOp>([&](Operation *) { return inferOr(type, a, b); })
      .Case([&](arith::ShLIOp) { return inferLeftShift(type, a, b); })
      .Case([&](arith::ShRSIOp) { return inferRightShift(type, a, b, /*isSigned=*/true); })
      .Case([&](arith::ShRUIOp) { return inferRightShift(type, a, b, /*isSigned=*/false); })
      .Case([&](arith::MinSIOp) { return inferMinimum(a, b); })
      .Case([&](arith::MaxSIOp) { return inferMaximum(a, b); })
      .Case([&](arith::MinUIOp) { return areNonNegative({a, b}) ? inferMinimum(a, b) : inferAnd(type, a, b); })
      .Case([&](arith::MaxUIOp) { return areNonNegative({a, b}) ? inferMaximum(a, b) : limits; })
      .Default([](Operation *) { return std::nullopt; });
}

IntegerRange tile::inferRange(Operation *op, OperandRanges operands) {
  Type type = op->getResult(0).getType(), from = op->getOperand(0).getType();
  IntegerRange limits = IntegerRange::ofType(type);
  if (!getElementTypeOf(type).isIntOrIndex() || getWidth(type) > 64 || getWidth(from) > 64)
    return limits;
  if (operands.size() == 2 && !isa<arith::CmpIOp>(op))
    return inferBinary(op, type, operands[0], operands[1]).value_or(limits);
  return llvm::TypeSwitch<Operation *, IntegerRange>(op)
      .Case([&](arith::ExtSIOp) { return operands[0]; })
      .Case([&](arith::ExtUIOp) { return inferZeroExtension(from, type, operands[0]); })
      .Case<arith::TruncIOp, arith::IndexCastOp>([&](Operation *) {
        return fit({operands[0].smallest, operands[0].largest, operands[0].usual}, type, /*mayCount=*/false);
      })
      .Case([&](arith::SelectOp) { return operands[1].unite(operands[2]); })
      .Default([&](Operation *) { return limits; });
}
