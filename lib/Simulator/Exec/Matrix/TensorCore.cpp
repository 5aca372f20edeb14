// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Matrix/TensorCore.h"

#include "Simulator/Numerics/Formats.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tile::sim::matrix {

namespace {

constexpr unsigned width = 8; ///< number of columns that are computed together
template <typename T> using Vector [[gnu::vector_size(width * sizeof(T))]] = T;
using Doubles = Vector<double>;
using Integers = Vector<int32_t>;
using LongIntegers = Vector<int64_t>;

template <typename V, typename T> void load(V &vector, const T *from) {
  std::memcpy(&vector, from, sizeof(V));
}

constexpr double powerOfTwo(int exponent) {
  return numerics::powerOfTwo(exponent);
}

/// A row of accumulators, decoded like the elements of Factor.
struct AccumulatorRow {
  std::vector<double> value, power;
  std::vector<uint8_t> special;
  bool anySpecial = false;

  AccumulatorRow(unsigned columns) : value(columns), power(columns), special(columns) {}
  void decode(const uint32_t *bits, Accumulator kind, double scale) {
    double minPower = powerOfTwo(kind == Accumulator::F16 ? -14 : -126);
    uint32_t any = 0;
    for (size_t i = 0; i < value.size(); ++i) {
      float number =
          kind == Accumulator::F16 ? numerics::toFloat(Half{uint16_t(bits[i])}) : std::bit_cast<float>(bits[i]);
      uint32_t exponentBits = std::bit_cast<uint32_t>(number) & 0x7f800000;
      bool isSpecial = exponentBits == 0x7f800000;
      double exponentPower = std::bit_cast<float>(exponentBits);
      double atLeast = exponentPower < minPower ? minPower : exponentPower;
      value[i] = isSpecial ? 0.0 : double(number) * scale;
      power[i] = isSpecial || number == 0 ? 0.0 : atLeast * scale;
      special[i] = isSpecial;
      any |= isSpecial;
    }
    anySpecial = any;
  }
};

/// Computes `sums` = left row · right columns + c for one row. Each term is truncated as described in the header, and
/// the sum is exact. The type `Units` contains a term in units of the sum; a term of two elements fits into int32_t.
template <typename Real, typename Units>
void sumRow(const Factor<Real> &left, unsigned row, const Factor<Real> &right, const AccumulatorRow &c, int fraction,
            double *sums) {
  using Reals = Vector<Real>;
  unsigned depth = left.depth;
  for (unsigned column = 0; column < right.lines; column += width) {
    Reals power = {};
    for (unsigned k = 0; k < depth; ++k) {
      Reals candidate;
      load(candidate, right.powers(k) + column);
      candidate *= left.powers(k)[row];
      power = candidate > power ? candidate : power;
    }
    Doubles largest = __builtin_convertvector(power, Doubles), ownPower, own;
    load(ownPower, c.power.data() + column);
    load(own, c.value.data() + column);
    largest = ownPower > largest ? ownPower : largest;
    largest = largest == 0.0 ? largest + 1.0 : largest; // all terms are zero

    // One unit of the sums is largest / 2^fraction. If it is too small for a float, all terms of elements are zero.
    Doubles unit = largest * powerOfTwo(-fraction), scale = 1.0 / unit;
    Reals productScale = __builtin_convertvector(scale, Reals);
    productScale = power == Real(0) ? power : productScale;
    // Terms are below 2^(fraction + 2), so int32_t can hold the sum of eight terms, but not of sixteen.
    constexpr unsigned depthAtOnce = 16;
    Doubles sum = __builtin_convertvector(__builtin_convertvector(own * scale, Integers), Doubles);
    for (unsigned first = 0; first < depth; first += depthAtOnce) {
      Units even = {}, odd = {};
      for (unsigned k = first; k < depth && k < first + depthAtOnce; k += 2) {
        Reals at, next;
        load(at, right.values(k) + column);
        load(next, right.values(k + 1) + column);
        even += __builtin_convertvector(at * left.values(k)[row] * productScale, Units);
        odd += __builtin_convertvector(next * left.values(k + 1)[row] * productScale, Units);
      }
      sum += __builtin_convertvector(even, Doubles) + __builtin_convertvector(odd, Doubles);
    }
    sum *= unit;
    std::memcpy(sums + column, &sum, sizeof(sum));
  }
}

/// Rounds towards zero to single precision with only `mantissaBits` of its 23 mantissa bits. Zeros become +0.
uint32_t truncateToSingle(double value, int mantissaBits) {
  double magnitude = std::fabs(value);
  double lost = powerOfTwo(-126 - mantissaBits);
  double kept = std::bit_cast<double>(std::bit_cast<uint64_t>(magnitude) & ~uint64_t(0) << (52 - mantissaBits));
  kept = magnitude < powerOfTwo(-126) ? std::trunc(magnitude / lost) * lost : kept;
  uint32_t bits = kept < powerOfTwo(128) ? std::bit_cast<uint32_t>(float(kept)) : 0x7f800000;
  return kept == 0 ? 0 : bits | uint32_t(std::bit_cast<uint64_t>(value) >> 63) << 31;
}

uint32_t roundToHalf(double value) {
  uint32_t bits = numerics::encode<numerics::halfFormat>(value);
  return bits == 0x8000 ? 0 : bits;
}

/// Returns a sum whose terms include infinities or NaN. It does not depend on the order of the terms.
uint32_t specialSum(const MmaTraits &traits, const FactorBits &left, unsigned row, const FactorBits &right,
                    unsigned column, uint32_t accumulator) {
  bool isHalf = traits.accumulator == Accumulator::F16;
  double sum = isHalf ? toDouble(Element::F16, accumulator) : std::bit_cast<float>(accumulator);
  sum *= powerOfTwo(-int(traits.inputShift));
  for (unsigned k = 0; k < left.depth; ++k)
    sum += toDouble(traits.left, left.at(k)[row]) * toDouble(traits.right, right.at(k)[column]);
  if (std::isnan(sum))
    return isHalf ? 0x7fff : 0x7fffffff;
  return (isHalf ? 0x7c00 : 0x7f800000) | uint32_t(std::signbit(sum)) << (isHalf ? 15 : 31);
}

template <typename Real, typename Units = Integers>
void multiplyAddFloats(const MmaTraits &traits, const FactorBits &leftBits, const FactorBits &rightBits,
                       uint32_t *accumulators, const BlockScales *leftScales = nullptr,
                       const BlockScales *rightScales = nullptr) {
  Factor<Real> left(leftBits, traits.left), right(rightBits, traits.right);
  if (leftScales)
    left.scale(*leftScales);
  if (rightScales)
    right.scale(*rightScales);
  const bool isCoarse = isFloat8(traits.left) && !traits.isBlackwell;
  int fraction = isCoarse ? 13 : 25, mantissaBits = isCoarse ? 13 : 23;
  AccumulatorRow c(right.lines);
  std::vector<double> sums(right.lines);
  for (unsigned row = 0; row < left.lines; ++row) {
    uint32_t *bits = accumulators + size_t(row) * right.lines;
    c.decode(bits, traits.accumulator, powerOfTwo(-int(traits.inputShift)));
    sumRow<Real, Units>(left, row, right, c, fraction, sums.data());
    bool anySpecial = left.isSpecial(row) || !right.special.empty() || c.anySpecial;
    for (unsigned column = 0; column < right.lines; ++column) {
      if (anySpecial && (left.isSpecial(row) || right.isSpecial(column) || c.special[column]))
        bits[column] = (leftScales && hasNan(*leftScales, row)) || (rightScales && hasNan(*rightScales, column))
                           ? (traits.accumulator == Accumulator::F16 ? 0x7fff : 0x7fffffff)
                           : specialSum(traits, leftBits, row, rightBits, column, bits[column]);
      else if (traits.accumulator == Accumulator::F16)
        bits[column] = roundToHalf(sums[column]);
      else
        bits[column] = truncateToSingle(sums[column], mantissaBits);
    }
  }
}

/// Returns elements 0 and 1 (if `part` is 0) or 2 and 3 (if it is 1) of every four elements along k, as f16.
FactorBits widenPart(const FactorBits &from, Element element, unsigned part) {
  FactorBits result(from.lines, from.depth / 2);
  for (unsigned k = 0; k < result.depth; ++k)
    for (unsigned line = 0; line < from.lines; ++line)
      result.at(k)[line] = toHalf(element, from.at(k / 2 * 4 + part * 2 + k % 2)[line]);
  return result;
}

void multiplyAddWidened(const MmaTraits &traits, const FactorBits &left, const FactorBits &right,
                        uint32_t *accumulators) {
  MmaTraits widened = {Element::F16, Element::F16, traits.accumulator};
  std::vector<uint32_t> sums(size_t(left.lines) * right.lines);
  for (unsigned part = 0; part < 2; ++part)
    multiplyAddFloats<float>(widened, widenPart(left, traits.left, part), widenPart(right, traits.right, part),
                             sums.data());
  for (size_t i = 0; i < sums.size(); ++i) {
    if (traits.accumulator == Accumulator::F16) {
      accumulators[i] = numerics::encode<numerics::halfFormat>(toDouble(Element::F16, sums[i]) +
                                                               toDouble(Element::F16, accumulators[i]));
      continue;
    }
    float sum = std::bit_cast<float>(sums[i]) + std::bit_cast<float>(accumulators[i]);
    accumulators[i] = sum != sum ? 0x7fffffff : std::bit_cast<uint32_t>(sum);
  }
}

void multiplyAddIntegers(const MmaTraits &traits, const FactorBits &leftBits, const FactorBits &rightBits,
                         uint32_t *accumulators) {
  std::vector<int32_t> left = toIntegers(leftBits, traits.left), right = toIntegers(rightBits, traits.right);
  unsigned rows = leftBits.lines, columns = rightBits.lines;
  std::vector<int32_t> sums(columns); // at most 64 * 255 * 255, so no overflow
  for (unsigned row = 0; row < rows; ++row) {
    sums.assign(columns, 0);
    for (unsigned k = 0; k < leftBits.depth; ++k) {
      int32_t factor = left[size_t(k) * rows + row];
      const int32_t *line = right.data() + size_t(k) * columns;
      if (traits.isXor)
        for (unsigned column = 0; column < columns; ++column)
          sums[column] += factor ^ line[column];
      else
        for (unsigned column = 0; column < columns; ++column)
          sums[column] += factor * line[column];
    }
    for (unsigned column = 0; column < columns; ++column) {
      uint32_t &to = accumulators[size_t(row) * columns + column];
      int64_t sum = int64_t(int32_t(to)) + sums[column];
      if (traits.saturate) {
        constexpr int64_t least = std::numeric_limits<int32_t>::min(), most = std::numeric_limits<int32_t>::max();
        sum = sum < least ? least : sum > most ? most : sum;
      }
      to = uint32_t(sum);
    }
  }
}

/// Returns left * right + sum. If operands are NaN, the result is the right operand if it is NaN, otherwise the
/// accumulator if it is NaN, otherwise the left operand, made quiet.
double fuseDoubles(double left, double right, double sum) {
  constexpr uint64_t quiet = uint64_t(1) << 51, invalid = uint64_t(0xfff8) << 48;
  for (double operand : {right, sum, left})
    if (std::isnan(operand))
      return std::bit_cast<double>(std::bit_cast<uint64_t>(operand) | quiet);
  double result = std::fma(left, right, sum);
  return std::isnan(result) ? std::bit_cast<double>(invalid) : result;
}

} // namespace

void multiplyAdd(const MmaTraits &traits, const FactorBits &left, const FactorBits &right, uint32_t *accumulators) {
  if (isInteger(traits.left))
    multiplyAddIntegers(traits, left, right, accumulators);
  else if (isFloat8(traits.left) && !traits.isWarpGroup && !traits.isBlackwell)
    multiplyAddWidened(traits, left, right, accumulators);
  else if (traits.left == Element::BF16 || traits.left == Element::TF32)
    multiplyAddFloats<double>(traits, left, right, accumulators); // products of these elements do not fit a float
  else
    multiplyAddFloats<float>(traits, left, right, accumulators);
}

void multiplyAdd(const MmaTraits &traits, const FactorBits &left, const BlockScales &leftScales,
                 const FactorBits &right, const BlockScales &rightScales, uint32_t *accumulators) {
  multiplyAddFloats<double, LongIntegers>(traits, left, right, accumulators, &leftScales, &rightScales);
}

void multiplyAdd(unsigned rows, unsigned columns, unsigned depth, const double *left, const double *right,
                 double *accumulators) {
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < columns; ++column) {
      double &sum = accumulators[row * columns + column];
      for (unsigned k = 0; k < depth; ++k)
        sum = fuseDoubles(left[row * depth + k], right[column * depth + k], sum);
    }
}

} // namespace tile::sim::matrix
