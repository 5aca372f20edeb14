// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point arithmetic and functions. Types of 32 bits or less compute in float and round to the type; f64
// computes in double. Functions of `math` compute in double for every type, so that results are correct to the last bit
// in nearly all cases and do not depend on the vector width of the host's library. Only `fma` is fused.
#include "Interpreter/Compiler.h"

#pragma STDC FP_CONTRACT OFF

using namespace mlir;

namespace tile::interp {

void roundInPlace(Kind kind, float *values, int64_t count) {
  auto apply = [&](auto round) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = round(values[i]);
  };
  if (kind == Kind::F16)
    apply(roundToFormat<kHalf>);
  else if (kind == Kind::BF16)
    apply(roundToFormat<kBrain>);
  else if (kind == Kind::F8E4M3)
    apply(roundToFormat<kE4M3>);
  else if (kind == Kind::F8E5M2)
    apply(roundToFormat<kE5M2>);
}

namespace {

template <typename T, auto fn> bool binary(Machine &machine, const Instruction &instruction) {
  const T *a = machine.at<T>(instruction.in[0]), *b = machine.at<T>(instruction.in[1]);
  T *__restrict result = machine.at<T>(instruction.out[0]);
  int64_t count = machine.countOf(instruction);
  for (int64_t i = 0; i < count; ++i)
    result[i] = fn(a[i], b[i]);
  if constexpr (std::is_same_v<T, float>)
    roundInPlace(instruction.kind, result, count);
  return true;
}

template <typename T, auto fn> bool unary(Machine &machine, const Instruction &instruction) {
  const T *a = machine.at<T>(instruction.in[0]);
  T *__restrict result = machine.at<T>(instruction.out[0]);
  int64_t count = machine.countOf(instruction);
  for (int64_t i = 0; i < count; ++i)
    result[i] = fn(a[i]);
  if constexpr (std::is_same_v<T, float>)
    roundInPlace(instruction.kind, result, count);
  return true;
}

/// Applies a double function. A float result is rounded to odd first if another rounding follows.
template <typename T, auto fn> bool doubleFunction(Machine &machine, const Instruction &instruction) {
  const T *a = machine.at<T>(instruction.in[0]), *b = machine.at<T>(instruction.in[1]),
          *c = machine.at<T>(instruction.in[2]);
  T *__restrict result = machine.at<T>(instruction.out[0]);
  int64_t count = machine.countOf(instruction);
  bool small = isSmallFloat(instruction.kind);
  for (int64_t i = 0; i < count; ++i) {
    double value;
    if constexpr (std::is_invocable_v<decltype(fn), double>)
      value = fn(double(a[i]));
    else if constexpr (std::is_invocable_v<decltype(fn), double, double>)
      value = fn(double(a[i]), double(b[i]));
    else
      value = fn(double(a[i]), double(b[i]), double(c[i]));
    if constexpr (std::is_same_v<T, float>)
      result[i] = small ? narrow(value, /*odd=*/true) : float(value);
    else
      result[i] = value;
  }
  if constexpr (std::is_same_v<T, float>)
    roundInPlace(instruction.kind, result, count);
  return true;
}

/// Computes a * b + c with a single rounding step. Double arithmetic suffices for small floats, but not for f32, whose
/// exact results may need more bits.
template <typename T> bool fusedMultiplyAdd(Machine &machine, const Instruction &instruction) {
  if (isSmallFloat(instruction.kind))
    return doubleFunction<T, [](double a, double b, double c) { return a * b + c; }>(machine, instruction);
  const T *a = machine.at<T>(instruction.in[0]), *b = machine.at<T>(instruction.in[1]),
          *c = machine.at<T>(instruction.in[2]);
  T *__restrict result = machine.at<T>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = std::fma(a[i], b[i], c[i]);
  return true;
}

template <typename T> bool integerPower(Machine &machine, const Instruction &instruction) {
  const T *base = machine.at<T>(instruction.in[0]);
  T *__restrict result = machine.at<T>(instruction.out[0]);
  int64_t count = machine.countOf(instruction);
  bool wide = instruction.dataAs<Kind>() == Kind::I64;
  if (!wide && instruction.dataAs<Kind>() != Kind::I32)
    return machine.fail(instruction, "the interpreter supports 'math.fpowi' only with exponents of 32 or 64 bits");
  for (int64_t i = 0; i < count; ++i) {
    int64_t exponent = wide ? machine.at<int64_t>(instruction.in[1])[i] : machine.at<int32_t>(instruction.in[1])[i];
    double power = std::pow(double(base[i]), double(exponent));
    result[i] = isSmallFloat(instruction.kind) ? narrow(power, /*odd=*/true) : T(power);
  }
  if constexpr (std::is_same_v<T, float>)
    roundInPlace(instruction.kind, result, count);
  return true;
}

/// The kernels for types of up to 32 bits and for f64.
using Kernels = std::array<Execute, 2>;

template <auto fn> constexpr Kernels kBinary = {binary<float, fn>, binary<double, fn>};
template <auto fn> constexpr Kernels kUnary = {unary<float, fn>, unary<double, fn>};
template <auto fn> constexpr Kernels kDouble = {doubleFunction<float, fn>, doubleFunction<double, fn>};
constexpr Kernels kFma = {fusedMultiplyAdd<float>, fusedMultiplyAdd<double>};
constexpr Kernels kIntegerPower = {integerPower<float>, integerPower<double>};

void add(HandlerTable &table, StringRef name, const Kernels &kernels) {
  table[name] = [&kernels](Compiler &compiler, Operation *op) {
    Kind kind = compiler.slotOf(op->getOperand(0)).kind;
    if (!isFloat(kind))
      return compiler.fail(op, "the interpreter does not support '" + op->getName().getStringRef() + "' of this type");
    Instruction &instruction = compiler.emit(op, kernels[kind == Kind::F64]);
    if (&kernels == &kIntegerPower)
      instruction.data = std::make_shared<const Kind>(compiler.slotOf(op->getOperand(1)).kind);
    return true;
  };
}

/// Returns the larger (smaller) of two values; +0 is larger than -0. Callers handle NaN.
template <typename T> T larger(T a, T b) {
  return a > b || (a == b && !std::signbit(a)) ? a : b;
}
template <typename T> T smaller(T a, T b) {
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

void registerArithmetic(HandlerTable &table) {
  add(table, "arith.addf", kBinary<[](auto a, auto b) { return a + b; }>);
  add(table, "arith.subf", kBinary<[](auto a, auto b) { return a - b; }>);
  add(table, "arith.mulf", kBinary<[](auto a, auto b) { return a * b; }>);
  add(table, "arith.divf", kBinary<[](auto a, auto b) { return a / b; }>);
  add(table, "arith.remf", kBinary<[](auto a, auto b) { return std::fmod(a, b); }>);
  add(table, "arith.negf", kUnary<[](auto a) { return -a; }>);
  add(table, "arith.maximumf", kBinary<[](auto a, auto b) { return a != a ? a : b != b ? b : larger(a, b); }>);
  add(table, "arith.minimumf", kBinary<[](auto a, auto b) { return a != a ? a : b != b ? b : smaller(a, b); }>);
  add(table, "arith.maxnumf", kBinary<[](auto a, auto b) { return a != a ? b : b != b ? a : larger(a, b); }>);
  add(table, "arith.minnumf", kBinary<[](auto a, auto b) { return a != a ? b : b != b ? a : smaller(a, b); }>);
  add(table, "math.absf", kUnary<[](auto a) { return std::fabs(a); }>);
  add(table, "math.floor", kUnary<[](auto a) { return std::floor(a); }>);
  add(table, "math.ceil", kUnary<[](auto a) { return std::ceil(a); }>);
  add(table, "math.trunc", kUnary<[](auto a) { return std::trunc(a); }>);
  add(table, "math.round", kUnary<[](auto a) { return std::round(a); }>);
  add(table, "math.roundeven", kUnary<[](auto a) { return std::nearbyint(a); }>); // the rounding mode is never changed
  add(table, "math.sqrt", kUnary<[](auto a) { return std::sqrt(a); }>);
  add(table, "math.copysign", kBinary<[](auto a, auto b) { return std::copysign(a, b); }>);
  add(table, "math.fma", kFma);
  add(table, "math.fpowi", kIntegerPower);
}

} // namespace

void registerFloatOps(HandlerTable &table) {
  registerArithmetic(table);
  add(table, "math.exp", kDouble<[](double a) { return std::exp(a); }>);
  add(table, "math.exp2", kDouble<[](double a) { return std::exp2(a); }>);
  add(table, "math.expm1", kDouble<[](double a) { return std::expm1(a); }>);
  add(table, "math.log", kDouble<[](double a) { return std::log(a); }>);
  add(table, "math.log2", kDouble<[](double a) { return std::log2(a); }>);
  add(table, "math.log10", kDouble<[](double a) { return std::log10(a); }>);
  add(table, "math.log1p", kDouble<[](double a) { return std::log1p(a); }>);
  add(table, "math.sin", kDouble<[](double a) { return std::sin(a); }>);
  add(table, "math.cos", kDouble<[](double a) { return std::cos(a); }>);
  add(table, "math.tan", kDouble<[](double a) { return std::tan(a); }>);
  add(table, "math.asin", kDouble<[](double a) { return std::asin(a); }>);
  add(table, "math.acos", kDouble<[](double a) { return std::acos(a); }>);
  add(table, "math.atan", kDouble<[](double a) { return std::atan(a); }>);
  add(table, "math.atan2", kDouble<[](double a, double b) { return std::atan2(a, b); }>);
  add(table, "math.sinh", kDouble<[](double a) { return std::sinh(a); }>);
  add(table, "math.cosh", kDouble<[](double a) { return std::cosh(a); }>);
  add(table, "math.tanh", kDouble<[](double a) { return std::tanh(a); }>);
  add(table, "math.asinh", kDouble<[](double a) { return std::asinh(a); }>);
  add(table, "math.acosh", kDouble<[](double a) { return std::acosh(a); }>);
  add(table, "math.atanh", kDouble<[](double a) { return std::atanh(a); }>);
  add(table, "math.erf", kDouble<[](double a) { return std::erf(a); }>);
  add(table, "math.erfc", kDouble<[](double a) { return std::erfc(a); }>);
  add(table, "math.rsqrt", kDouble<[](double a) { return 1.0 / std::sqrt(a); }>);
  add(table, "math.cbrt", kDouble<[](double a) { return std::cbrt(a); }>);
  add(table, "math.powf", kDouble<[](double a, double b) { return std::pow(a, b); }>);
  add(table, "math.clampf",
      kDouble<[](double a, double low, double high) { return std::fmin(std::fmax(a, low), high); }>);
}

} // namespace tile::interp
