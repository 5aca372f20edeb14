// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that compute every lane by itself: a pure function from Numerics/ in a loop over the 32 lanes.
//
// All lanes are computed, which the compiler vectorises, and those of the mask are written. Packed instructions
// (f16x2, u16x2 …) are the same loop over the parts of all registers, 64 of them.
#pragma once

#include "Simulator/Exec/Arithmetic/Family.h"
#include "Simulator/Numerics/MinMax.h"

#include <tuple>

namespace tile::sim {

/// Result and parameters of a function.
template <typename T> struct Signature;
template <typename R, typename... P> struct Signature<R (*)(P...)> {
  using Result = R;
  static constexpr size_t count = sizeof...(P);
};

/// What suffixes do to the operands and the result of floating-point instructions.
struct Modifiers {
  bool flush = false;    ///< .ftz
  bool saturate = false; ///< .sat
  bool relu = false;     ///< .relu
  bool none() const { return !flush && !saturate && !relu; }
};

template <typename T>
constexpr bool isFloat =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Modifies `count` values in `values`.
template <typename T> void flushAll(T *values, unsigned count) {
  if constexpr (std::is_same_v<T, float>)
    for (unsigned i = 0; i < count; ++i)
      values[i] = numerics::flushSubnormal(values[i]);
  else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    for (unsigned i = 0; i < count; ++i)
      values[i] = numerics::flushHalf(values[i]);
}
template <typename T> T saturated(T value) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
    return numerics::narrow<T>(numerics::saturate(numerics::toFloat(value)));
  else
    return numerics::saturate(value);
}
template <typename T> void modify(const Modifiers &modifiers, T *values, unsigned count) {
  if constexpr (isFloat<T>) {
    if (modifiers.flush)
      flushAll(values, count);
    if (modifiers.saturate)
      for (unsigned i = 0; i < count; ++i)
        values[i] = saturated(values[i]);
    if (modifiers.relu)
      for (unsigned i = 0; i < count; ++i)
        values[i] = numerics::clampNegative(values[i]);
  }
}

/// `parts` values of each type fill a register: R is the register's type, T the values'.
template <unsigned parts, typename T> struct RegisterOf {
  using type = T;
};
template <typename T> struct RegisterOf<2, T> {
  using type = std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>;
};
template <typename T> struct RegisterOf<4, T> {
  using type = uint32_t;
};

template <auto function, unsigned parts, typename F = decltype(function)> class Elementwise;

template <auto function, unsigned parts, typename R, typename... P>
class Elementwise<function, parts, R (*)(P...)> final : public Operation {
public:
  template <typename T> using Register = typename RegisterOf<parts, T>::type;

  /// Operands `first` … of the instruction are the sources.
  Elementwise(Decoding &d, Modifiers modifiers, const Operand &to, size_t first)
      : Elementwise(d, modifiers, to, first, std::index_sequence_for<P...>()) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    compute(warp, active, std::index_sequence_for<P...>());
    return Step::Next;
  }

private:
  template <size_t... i>
  Elementwise(Decoding &d, Modifiers modifiers, const Operand &to, size_t first, std::index_sequence<i...>)
      : modifiers(modifiers), dest(d.dest<Register<R>>(to)), sources(d.source<Register<P>>(first + i)...) {}

  template <typename T> struct Scratch {
    alignas(64) Register<T> values[warpSize];
  };

  template <typename T> const T *read(const Warp &warp, const Source<Register<T>> &source, Scratch<T> &scratch) const {
    const Register<T> *values = source.read(warp, scratch.values);
    if (isFloat<T> && modifiers.flush) {
      if (values != scratch.values)
        std::memcpy(scratch.values, values, sizeof(scratch.values));
      flushAll(reinterpret_cast<T *>(scratch.values), warpSize * parts);
      values = scratch.values;
    }
    return reinterpret_cast<const T *>(values);
  }

  /// `flatten`: all calls are inlined, which makes a loop that vectorises.
  [[gnu::flatten]] static void apply(R *__restrict results, const P *__restrict... inputs) {
    for (unsigned part = 0; part < warpSize * parts; ++part)
      results[part] = function(inputs[part]...);
  }

  template <size_t... i> void compute(Warp &warp, LaneMask active, std::index_sequence<i...>) const {
    std::tuple<Scratch<P>...> scratch;
    std::tuple<const P *...> inputs{read<P>(warp, std::get<i>(sources), std::get<i>(scratch))...};
    Scratch<R> results;
    R *values = reinterpret_cast<R *>(results.values);
    apply(values, std::get<i>(inputs)...);
    if (!modifiers.none())
      modify(modifiers, values, warpSize * parts);
    dest.write(warp, active, results.values);
  }

  Modifiers modifiers;
  Dest<Register<R>> dest;
  std::tuple<Source<Register<P>>...> sources;
};

/// The operation d, a, b, … for `function`, if the operands are as many as it has.
template <auto function, unsigned parts = 1> Result<OperationPtr> elementwise(Decoding &d, Modifiers modifiers = {}) {
  if (!d.finished(1 + Signature<decltype(function)>::count))
    return d.unsupported();
  return OperationPtr(make<Elementwise<function, parts>>(d, modifiers, d.operand(0), 1));
}

} // namespace tile::sim
