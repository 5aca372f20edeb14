// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sin cos lg2 ex2 tanh rsqrt testp: PTX ISA 9.7.3, 9.7.4.
#include "Simulator/Exec/Arithmetic/Elementwise.h"
#include "Simulator/Numerics/Approximate.h"

namespace tile::sim {
namespace {

using namespace numerics;

/// Applies a function of floats to an f16 or bf16 value.
template <float (*function)(float), typename T> T ofHalf(T x) {
  return narrow<T>(function(toFloat(x)));
}

/// Decodes name.approx{.ftz}.f32.
template <float (*function)(float)> Result<OperationPtr> decodeApproximate(Decoding &d) {
  if (!d.take("approx"))
    return d.unsupported();
  Modifiers modifiers{.flush = d.take("ftz")};
  if (d.takeType() != Type::F32)
    return d.unsupported();
  return elementwise<function>(d, modifiers);
}

/// Decodes ex2 and tanh, which also exist for f16 and bf16. ex2 of bf16 always has .ftz.
template <float (*function)(float), bool hasFlush> Result<OperationPtr> decodeApproximateHalf(Decoding &d) {
  if (!d.take("approx"))
    return d.unsupported();
  Modifiers modifiers{.flush = d.take("ftz")};
  std::optional<Type> type = d.takeType();
  if (modifiers.flush && !hasFlush)
    return d.unsupported();
  bool isBFloat16 = type == Type::BF16 || type == Type::BF16x2;
  if (type != Type::F32 && modifiers.flush != (isBFloat16 && hasFlush))
    return d.unsupported();
  switch (type.value_or(Type::None)) {
  case Type::F32:
    return elementwise<function>(d, modifiers);
  case Type::F16:
    return elementwise<&ofHalf<function, Half>>(d, modifiers);
  case Type::F16x2:
    return elementwise<&ofHalf<function, Half>, 2>(d, modifiers);
  case Type::BF16:
    return elementwise<&ofHalf<function, BFloat16>>(d, modifiers);
  case Type::BF16x2:
    return elementwise<&ofHalf<function, BFloat16>, 2>(d, modifiers);
  default:
    return d.unsupported();
  }
}

Result<OperationPtr> decodeRsqrt(Decoding &d) {
  if (!d.take("approx"))
    return d.unsupported();
  Modifiers modifiers{.flush = d.take("ftz")};
  std::optional<Type> type = d.takeType();
  if (type == Type::F32)
    return elementwise<&rsqrtApproximate>(d, modifiers);
  if (type == Type::F64)
    return modifiers.flush ? elementwise<&rsqrtUpperHalf>(d) : elementwise<&rsqrtDouble>(d);
  return d.unsupported();
}

/// testp.op.type p, a. Tests for a property of a floating-point value.
enum class Property { Finite, Infinite, Number, NotANumber, Normal, Subnormal };

template <typename T> class TestProperty final : public Operation {
public:
  TestProperty(Property property, PredicateDest dest, Source<T> a) : property(property), dest(dest), a(a) {}
  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    LaneMask result = 0;
    forLanes(active, [&](unsigned lane) { result |= LaneMask(has(a.one(warp, lane))) << lane; });
    dest.write(warp, active, result);
    return Step::Next;
  }

private:
  bool has(T value) const {
    switch (property) {
    case Property::Finite:
      return std::isfinite(value);
    case Property::Infinite:
      return std::isinf(value);
    case Property::Number:
      return !std::isnan(value);
    case Property::NotANumber:
      return std::isnan(value);
    case Property::Normal:
      return std::isnormal(value) || value == 0; // the hardware counts zero as normal, too
    case Property::Subnormal:
      return std::isfinite(value) && value != 0 && !std::isnormal(value);
    }
    return false;
  }
  Property property;
  PredicateDest dest;
  Source<T> a;
};

Result<OperationPtr> decodeTestp(Decoding &d) {
  int property = d.takeOne({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  std::optional<Type> type = d.takeType();
  if (property < 0 || !d.finished(2))
    return d.unsupported();
  return chooseType<Type::F32, Type::F64>(d, type, [&](auto tag) -> Result<OperationPtr> {
    using T = typename decltype(tag)::type;
    return make<TestProperty<T>>(Property(property), d.predicateDest(d.operand(0)), d.source<T>(1));
  });
}

constexpr DecoderEntry entries[] = {
    {"sin", decodeApproximate<&sinApproximate>},
    {"cos", decodeApproximate<&cosApproximate>},
    {"lg2", decodeApproximate<&log2Approximate>},
    {"ex2", decodeApproximateHalf<&exp2Approximate, true>},
    {"tanh", decodeApproximateHalf<&tanhApproximate, false>},
    {"rsqrt", decodeRsqrt},
    {"testp", decodeTestp},
};

} // namespace

std::span<const DecoderEntry> approximateDecoders() {
  return entries;
}

} // namespace tile::sim
