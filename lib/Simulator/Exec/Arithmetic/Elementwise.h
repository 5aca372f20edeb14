// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that compute each lane independently: a pure function from Numerics/ in a loop over the 32 lanes.
//
// All lanes are computed, so that the compiler can vectorize the loop; only those of the mask are written. Packed
// instructions (f16x2, u16x2 …) are the same loop over the parts of all registers, 64 of them.
#pragma once

#include "Simulator/Exec/Arithmetic/Family.h"
#include "Simulator/Numerics/MinMax.h"

#include <tuple>

namespace tile::sim {

/// The result type and the parameter types of a function.
template <typename T> struct Signature;
template <typename R, typename... P> struct Signature<R (*)(P...)> {
  using Result = R;
  static constexpr size_t count = sizeof...(P);
};

/// The effects of suffixes on the operands and results of floating-point instructions.
struct Modifiers {
  bool flush = false;    ///< .ftz
  bool saturate = false; ///< .sat
  bool relu = false;     ///< .relu
  bool none() const { return !flush && !saturate && !relu; }
};

template <typename T>
constexpr bool isFloat =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Flushes subnormals among the `count` values.
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

/// The type of a register that holds `parts` values of type T.
template <unsigned parts, typename T> struct RegisterOf {
  using type = T;
};
template <typename T> struct RegisterOf<2, T> {
  using type = std::conditional_t<sizeof(T) == 2, uint32_t, uint64_t>;
};
template <typename T> struct RegisterOf<4, T> {
  using type = uint32_t;
};

/// Applies `function` to all values. `flatten` inlines the calls, so the loop vectorizes.
template <auto function, unsigned count, typename R, typename... P>
[[gnu::flatten]] void applyToAll(R *__restrict results, const P *__restrict... inputs) {
  for (unsigned i = 0; i < count; ++i)
    results[i] = function(inputs[i]...);
}

/// An element-wise operation. All functions of one signature share this code: there are a few dozen signatures, and
/// hundreds of functions.
template <unsigned parts, typename R, typename... P> class Elementwise final : public Operation {
public:
  template <typename T> using Register = typename RegisterOf<parts, T>::type;
  using Apply = void (*)(R *__restrict, const P *__restrict...);

  /// The sources are the operands of the instruction from operand 1 on.
  Elementwise(Decoding &d, Apply apply, Modifiers modifiers)
      : Elementwise(d, apply, modifiers, std::index_sequence_for<P...>()) {}

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    compute(warp, active, std::index_sequence_for<P...>());
    return Step::Next;
  }

private:
  template <size_t... i>
  Elementwise(Decoding &d, Apply apply, Modifiers modifiers, std::index_sequence<i...>)
      : apply(apply), modifiers(modifiers), dest(d.dest<Register<R>>(d.operand(0))),
        sources(d.source<Register<P>>(1 + i)...) {}

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

  template <size_t... i> void compute(Warp &warp, LaneMask active, std::index_sequence<i...>) const {
    std::tuple<Scratch<P>...> scratch;
    Scratch<R> results;
    R *values = reinterpret_cast<R *>(results.values);
    apply(values, read<P>(warp, std::get<i>(sources), std::get<i>(scratch))...);
    if (!modifiers.none())
      modify(modifiers, values, warpSize * parts);
    dest.write(warp, active, results.values);
  }

  Apply apply;
  Modifiers modifiers;
  Dest<Register<R>> dest;
  std::tuple<Source<Register<P>>...> sources;
};

template <auto function, unsigned parts, typename R, typename... P>
OperationPtr makeElementwise(Decoding &d, Modifiers modifiers, R (*)(P...)) {
  return make<Elementwise<parts, R, P...>>(d, &applyToAll<function, warpSize * parts, R, P...>, modifiers);
}

/// Makes the operation d, a, b, … for `function`. Returns an error if the number of operands is wrong.
template <auto function, unsigned parts = 1> Result<OperationPtr> elementwise(Decoding &d, Modifiers modifiers = {}) {
  if (!d.finished(1 + Signature<decltype(function)>::count))
    return d.unsupported();
  return makeElementwise<function, parts>(d, modifiers, function);
}

} // namespace tile::sim
