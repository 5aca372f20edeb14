// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt between scalars. A conversion has two or three steps, which communicate through an array of 32 doubles or 64-bit
// integers. This requires one loop per source type and one per destination type instead of one per pair of types:
//
//   read (one per source type) → round to an integer (.rni …) → write (one per destination type; rounds)
//
// Floating-point values of all types are exact in double; integers that go to a floating-point type narrower than
// double are rounded to odd (see Rounding.h).
#pragma once

#include "Simulator/Exec/Arithmetic/Elementwise.h"
#include "Simulator/Numerics/Convert.h"

namespace tile::sim {

template <typename Middle> class ConversionReader {
public:
  virtual ~ConversionReader() = default;
  virtual void read(const Warp &warp, Middle (&values)[warpSize]) const = 0;
};

template <typename Middle> class ConversionWriter {
public:
  virtual ~ConversionWriter() = default;
  virtual void write(Warp &warp, LaneMask active, const Middle (&values)[warpSize]) const = 0;
};

template <typename Middle> class Conversion final : public Operation {
public:
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    alignas(64) Middle values[warpSize];
    reader->read(warp, values);
    if constexpr (std::is_same_v<Middle, double>)
      if (integral)
        roundAll(values);
    writer->write(warp, active, values);
    return Step::Next;
  }

  std::unique_ptr<ConversionReader<Middle>> reader;
  std::optional<Rounding> integral;
  std::unique_ptr<ConversionWriter<Middle>> writer;

private:
  template <Rounding rounding> static void roundEach(double (&values)[warpSize]) {
    for (double &value : values)
      value = numerics::roundToIntegral<rounding>(value);
  }
  void roundAll(double (&values)[warpSize]) const {
    switch (*integral) {
    case Rounding::NearestEven:
    case Rounding::NearestAway:
      return roundEach<Rounding::NearestEven>(values);
    case Rounding::Zero:
      return roundEach<Rounding::Zero>(values);
    case Rounding::Down:
      return roundEach<Rounding::Down>(values);
    case Rounding::Up:
      return roundEach<Rounding::Up>(values);
    }
  }
};

inline double widen(Half value) {
  return numerics::toFloat(value);
}
inline double widen(BFloat16 value) {
  return numerics::toFloat(value);
}
inline double widen(float value) {
  return value;
}
inline double widen(double value) {
  return value;
}

/// Reads a floating-point source or, if Middle is an integer type, an integer source.
template <typename S, typename Middle> class Reader final : public ConversionReader<Middle> {
public:
  Reader(Decoding &d, bool flush) : source(d.source<S>(1)), flush(flush) {}
  void read(const Warp &warp, Middle (&values)[warpSize]) const override {
    S scratch[warpSize];
    const S *from = source.read(warp, scratch);
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if constexpr (!isFloat<S> && std::is_same_v<Middle, double>)
        values[lane] = numerics::toDoubleOdd(std::conditional_t<std::is_signed_v<S>, int64_t, uint64_t>(from[lane]));
      else if constexpr (isFloat<S>)
        values[lane] = widen(from[lane]);
      else
        values[lane] = Middle(from[lane]);
    }
    if constexpr (std::is_same_v<S, float>)
      if (flush)
        for (double &value : values)
          value = std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
  }

private:
  Source<S> source;
  bool flush;
};

/// The NaN that results from converting a NaN, as on an H200.
enum class NanResult : uint8_t {
  Canonical, ///< always the same NaN
  Payload    ///< a quiet NaN with the sign and the upper bits of the payload; for conversions to and from f64
};

template <typename D> inline D narrowNan(double nan) {
  uint64_t bits = std::bit_cast<uint64_t>(nan);
  if constexpr (std::is_same_v<D, double>) {
    return numerics::quiet(nan);
  } else {
    constexpr int mantissa = std::is_same_v<D, float> ? 23 : std::is_same_v<D, Half> ? 10 : 7;
    using Integer = numerics::IntegerOf<D>;
    Integer quiet = numerics::BitsOf<D>::infinity | Integer(1) << (mantissa - 1);
    Integer payload = Integer(bits >> (52 - mantissa)) & ((Integer(1) << mantissa) - 1);
    return numerics::fromBits<D>(Integer(quiet | payload | (bits >> 63 ? numerics::signBit<D> : 0)));
  }
}

/// Writes doubles to a floating-point destination.
template <typename D> class FloatWriter final : public ConversionWriter<double> {
public:
  FloatWriter(Decoding &d, Rounding rounding, Modifiers modifiers, bool satFinite, NanResult nan)
      : dest(d.dest<D>(0)), rounding(rounding), modifiers(modifiers), satFinite(satFinite), nan(nan) {}

  void write(Warp &warp, LaneMask active, const double (&values)[warpSize]) const override {
    alignas(64) D results[warpSize];
    switch (rounding) {
    case Rounding::NearestEven:
    case Rounding::NearestAway:
      round<Rounding::NearestEven>(values, results);
      break;
    case Rounding::Zero:
      round<Rounding::Zero>(values, results);
      break;
    case Rounding::Down:
      round<Rounding::Down>(values, results);
      break;
    case Rounding::Up:
      round<Rounding::Up>(values, results);
      break;
    }
    if (nan == NanResult::Payload)
      for (unsigned lane = 0; lane < warpSize; ++lane)
        if (std::isnan(values[lane]))
          results[lane] = narrowNan<D>(values[lane]);
    if (!modifiers.none())
      modify(modifiers, results, warpSize);
    dest.write(warp, active, results);
  }

private:
  template <Rounding mode> [[gnu::flatten]] void round(const double (&values)[warpSize], D (&results)[warpSize]) const {
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if constexpr (std::is_same_v<D, double>)
        results[lane] = values[lane] != values[lane] ? widenedNan : values[lane];
      else if constexpr (std::is_same_v<D, float>)
        results[lane] = numerics::canonical(numerics::roundToFloat<mode>(values[lane]));
      else
        results[lane] = numerics::narrow<D, mode>(values[lane], satFinite);
    }
  }
  Dest<D> dest;
  static constexpr double widenedNan =
      std::bit_cast<double>(uint64_t(0x7fffffffe0000000)); ///< the NaN that f32 instructions return, as a double
  Rounding rounding;
  Modifiers modifiers;
  bool satFinite;
  NanResult nan;
};

/// Writes integral doubles, or integers, to an integer destination.
template <typename D, typename Middle> class IntegerWriter final : public ConversionWriter<Middle> {
public:
  /// NaN is converted to 0 or, with `nanIsTop`, to a value of which only the highest bit is set.
  IntegerWriter(Decoding &d, bool saturate, bool nanIsTop) : dest(d.dest<D>(0)), saturate(saturate) {
    if (nanIsTop)
      nan = D(std::make_unsigned_t<D>(1) << (8 * sizeof(D) - 1));
  }

  void write(Warp &warp, LaneMask active, const Middle (&values)[warpSize]) const override {
    alignas(64) D results[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      if constexpr (std::is_same_v<Middle, double>)
        results[lane] = values[lane] != values[lane] ? nan : numerics::toInteger<D>(values[lane]);
      else
        results[lane] = saturate ? clamp(values[lane]) : D(values[lane]);
    }
    dest.write(warp, active, results);
  }

private:
  static D clamp(Middle value) {
    using Limits = std::numeric_limits<D>;
    if constexpr (std::is_signed_v<Middle>)
      if (value < 0 && (std::is_unsigned_v<D> || value < Middle(Limits::min())))
        return Limits::min();
    return value > 0 && uint64_t(value) > uint64_t(Limits::max()) ? Limits::max() : D(value);
  }
  Dest<D> dest;
  bool saturate;
  D nan = 0;
};

/// Writes 64-bit integers to a double destination: the only conversion to double that rounds.
template <typename Middle> class LongToDoubleWriter final : public ConversionWriter<Middle> {
public:
  LongToDoubleWriter(Decoding &d, Rounding rounding, Modifiers modifiers)
      : dest(d.dest<double>(0)), rounding(rounding), modifiers(modifiers) {}

  void write(Warp &warp, LaneMask active, const Middle (&values)[warpSize]) const override {
    double results[warpSize];
    for (unsigned lane = 0; lane < warpSize; ++lane) {
      bool isNegative = values[lane] < 0;
      uint64_t magnitude = isNegative ? -uint64_t(values[lane]) : uint64_t(values[lane]);
      results[lane] = numerics::magnitudeToDouble(magnitude, isNegative, rounding);
    }
    modify(modifiers, results, warpSize);
    dest.write(warp, active, results);
  }

private:
  Dest<double> dest;
  Rounding rounding;
  Modifiers modifiers;
};

/// Decodes cvt to or from a packed type, cvt to tf32, and cvt.pack; no suffix has been taken.
bool isPackedConversion(const Decoding &d);
Result<OperationPtr> decodePackedConversion(Decoding &d);

} // namespace tile::sim
