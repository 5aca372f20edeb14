// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of CUDA's libdevice that C++ lacks or names differently. They compute in double, except for nextafter,
// which computes in the type itself.
// Formulas: Abramowitz and Stegun, "Handbook of Mathematical Functions", chapters 7 and 26.
#include "Interpreter/Compiler.h"

#include <limits>
#include <numbers>

#pragma STDC FP_CONTRACT OFF

using namespace mlir;

namespace tile::interp {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), none = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = std::numbers::pi;

/// Computes sin(pi x) and cos(pi x): exact at multiples of 1/2.
double sinpi(double x) {
  double r = std::fmod(x, 2);
  if (r == std::trunc(r))
    return std::copysign(0.0, x);
  if (std::fabs(r) == 0.5 || std::fabs(r) == 1.5)
    return r == 0.5 || r == -1.5 ? 1 : -1;
  return std::sin(pi * r);
}
double cospi(double x) {
  double r = std::fabs(std::fmod(x, 2));
  if (r == 0.5 || r == 1.5)
    return 0;
  return std::cos(pi * r);
}

/// Computes exp(x^2) erfc(x), with an asymptotic series where erfc would underflow.
double erfcx(double x) {
  if (x < 20)
    return std::exp(x * x) * std::erfc(x);
  double term = 1, sum = 1, step = 1 / (2 * x * x);
  for (int k = 1; k < 10; ++k)
    sum += term *= -(2 * k - 1) * step;
  return sum / (x * std::sqrt(pi));
}

/// Returns y with erfc(y) = x, by Halley's method from below, where erfc is convex.
double erfcinv(double x) {
  if (!(x >= 0 && x <= 2))
    return none;
  if (x == 0 || x == 2)
    return x == 0 ? infinity : -infinity;
  if (x > 1)
    return -erfcinv(2 - x);
  // In the tail, erfc(y) is about exp(-y^2) / (y sqrt(pi)).
  double y = (1 - x) * std::sqrt(pi) / 2;
  if (x < 0.1) {
    y = std::sqrt(-std::log(x));
    for (int step = 0; step < 3; ++step)
      y = std::sqrt(-std::log(x * y * std::sqrt(pi)));
  }
  for (int step = 0; step < 50; ++step) {
    double error = (std::erfc(y) - x) / (-2 / std::sqrt(pi) * std::exp(-y * y));
    double change = error / (1 + y * error);
    y -= change;
    if (std::fabs(change) <= 1e-16 * std::fabs(y))
      break;
  }
  return y;
}

/// Returns y with erf(y) = x. Near 0, erfc(y) = 1 - x would lose digits.
double erfinv(double x) {
  if (!(std::fabs(x) <= 1))
    return none;
  if (std::fabs(x) > 0.5)
    return std::copysign(erfcinv(1 - std::fabs(x)), x);
  double y = x * std::sqrt(pi) / 2;
  for (int step = 0; step < 20; ++step) {
    double error = (std::erf(y) - x) / (2 / std::sqrt(pi) * std::exp(-y * y));
    y -= error / (1 + y * error);
  }
  return y;
}

double normcdf(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}
double normcdfinv(double p) {
  return -std::numbers::sqrt2 * erfcinv(2 * p);
}

/// Computes modified Bessel functions of the first kind for arguments of any sign. C++ only has them for nonnegative
/// arguments, and throws for large ones, where they overflow.
double besselI(double order, double x) {
  if (std::isnan(x))
    return x;
  double value = std::fabs(x) > 720 ? infinity : std::cyl_bessel_i(order, std::fabs(x));
  return order == 0 ? value : std::copysign(value, x);
}

/// std::hypot with three arguments mishandles infinity.
double norm3d(double a, double b, double c) {
  return std::hypot(std::hypot(a, b), c);
}

template <typename T> T apply(LibraryFunction function, T a, T b, T c) {
  switch (function) {
  case LibraryFunction::cospi:
    return T(cospi(a));
  case LibraryFunction::sinpi:
    return T(sinpi(a));
  case LibraryFunction::cyl_bessel_i0:
    return T(besselI(0, a));
  case LibraryFunction::cyl_bessel_i1:
    return T(besselI(1, a));
  case LibraryFunction::erfcinv:
    return T(erfcinv(a));
  case LibraryFunction::erfcx:
    return T(erfcx(a));
  case LibraryFunction::erfinv:
    return T(erfinv(a));
  case LibraryFunction::exp10:
    return T(std::pow(10.0, double(a)));
  case LibraryFunction::j0:
    return T(::j0(a));
  case LibraryFunction::j1:
    return T(::j1(a));
  case LibraryFunction::lgamma:
    return T(std::lgamma(double(a)));
  case LibraryFunction::logb:
    return std::logb(a);
  case LibraryFunction::normcdf:
    return T(normcdf(a));
  case LibraryFunction::normcdfinv:
    return T(normcdfinv(a));
  case LibraryFunction::rcbrt:
    return T(1 / std::cbrt(double(a)));
  case LibraryFunction::tgamma:
    return T(std::tgamma(double(a)));
  case LibraryFunction::y0:
    return T(::y0(a));
  case LibraryFunction::y1:
    return T(::y1(a));
  case LibraryFunction::fdim:
    return std::fdim(a, b);
  case LibraryFunction::hypot:
    return T(std::hypot(double(a), double(b)));
  case LibraryFunction::nextafter:
    return std::nextafter(a, b);
  case LibraryFunction::remainder:
    return std::remainder(a, b);
  case LibraryFunction::rhypot:
    return T(1 / std::hypot(double(a), double(b)));
  case LibraryFunction::norm3d:
    return T(norm3d(a, b, c));
  case LibraryFunction::rnorm3d:
    return T(1 / norm3d(a, b, c));
  case LibraryFunction::exp:
    return T(std::exp(double(a)));
  case LibraryFunction::log2:
    return T(std::log2(double(a)));
  case LibraryFunction::rsqrt_rn:
    return T(1 / std::sqrt(double(a)));
  }
  return a;
}

template <typename T> bool callLibrary(Machine &machine, const Instruction &instruction) {
  LibraryFunction function = instruction.dataAs<LibraryFunction>();
  unsigned arguments = LibraryCallOp::countArguments(function);
  const T *a = machine.at<T>(instruction.in[0]), *b = arguments > 1 ? machine.at<T>(instruction.in[1]) : a,
          *c = arguments > 2 ? machine.at<T>(instruction.in[2]) : a;
  T *__restrict result = machine.at<T>(instruction.out[0]);
  for (int64_t i = 0, count = machine.countOf(instruction); i < count; ++i)
    result[i] = apply<T>(function, a[i], b[i], c[i]);
  return true;
}

} // namespace

void registerLibraryOps(HandlerTable &table) {
  table["tile.library_call"] = [](Compiler &compiler, Operation *op) {
    bool isDouble = compiler.slotOf(op->getOperand(0)).kind == Kind::F64;
    Instruction &instruction = compiler.emit(op, isDouble ? callLibrary<double> : callLibrary<float>);
    instruction.data = std::make_shared<const LibraryFunction>(cast<LibraryCallOp>(op).getFunction());
    return true;
  };
}

} // namespace tile::interp
