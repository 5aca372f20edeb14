// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation of `math`, against the C library in double, rounded once to the type.
#include "Harness.h"

#include <functional>

namespace tile::interp::test {
namespace {

using Numbers = std::vector<double>;

struct UnaryCase {
  const char *op;
  std::function<double(double)> function;
};

const UnaryCase kUnary[] = {
    {"math.absf", [](double x) { return std::fabs(x); }},
    {"math.floor", [](double x) { return std::floor(x); }},
    {"math.ceil", [](double x) { return std::ceil(x); }},
    {"math.trunc", [](double x) { return std::trunc(x); }},
    {"math.round", [](double x) { return std::round(x); }},
    {"math.roundeven", [](double x) { return std::nearbyint(x); }},
    {"math.sqrt", [](double x) { return std::sqrt(x); }},
    {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }},
    {"math.cbrt", [](double x) { return std::cbrt(x); }},
    {"math.exp", [](double x) { return std::exp(x); }},
    {"math.exp2", [](double x) { return std::exp2(x); }},
    {"math.expm1", [](double x) { return std::expm1(x); }},
    {"math.log", [](double x) { return std::log(x); }},
    {"math.log2", [](double x) { return std::log2(x); }},
    {"math.log10", [](double x) { return std::log10(x); }},
    {"math.log1p", [](double x) { return std::log1p(x); }},
    {"math.sin", [](double x) { return std::sin(x); }},
    {"math.cos", [](double x) { return std::cos(x); }},
    {"math.tan", [](double x) { return std::tan(x); }},
    {"math.asin", [](double x) { return std::asin(x); }},
    {"math.acos", [](double x) { return std::acos(x); }},
    {"math.atan", [](double x) { return std::atan(x); }},
    {"math.sinh", [](double x) { return std::sinh(x); }},
    {"math.cosh", [](double x) { return std::cosh(x); }},
    {"math.tanh", [](double x) { return std::tanh(x); }},
    {"math.asinh", [](double x) { return std::asinh(x); }},
    {"math.acosh", [](double x) { return std::acosh(x); }},
    {"math.atanh", [](double x) { return std::atanh(x); }},
    {"math.erf", [](double x) { return std::erf(x); }},
    {"math.erfc", [](double x) { return std::erfc(x); }},
};

double rounded(const std::string &type, double value) {
  if (type == "f64")
    return value;
  return type == "f32" ? double(float(value)) : double(roundTo(kindNamed(type), narrow(value, /*odd=*/true)));
}

void expectSame(double actual, double expected, const std::string &what) {
  if (std::isnan(expected))
    EXPECT_TRUE(std::isnan(actual)) << what;
  else
    EXPECT_EQ(actual, expected) << what;
}

TEST(Math, UnaryFunctionsOnEveryType) {
  const Numbers values{-2.5, -0.5, 0, 0.375, 0.5, 1, 1.5, 3};
  for (const UnaryCase &test : kUnary)
    for (const std::string &type : {"f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64"}) {
      Numbers result = apply(test.op, type, {values});
      for (size_t i = 0; i < values.size(); ++i) {
        double input = rounded(type, values[i]), expected = rounded(type, test.function(input));
        expectSame(result[i], expected, std::string(test.op) + " " + type + " of " + std::to_string(values[i]));
      }
    }
}

TEST(Math, BinaryAndTernaryFunctions) {
  EXPECT_EQ(apply("math.powf", "f32", {{2, 9, 0}, {10, 0.5, 0}}), (Numbers{1024, 3, 1}));
  EXPECT_EQ(apply("math.powf", "f16", {{2, 4}, {3, 0.5}}), (Numbers{8, 2}));
  EXPECT_EQ(apply("math.powf", "f64", {{1.1}, {7}}), Numbers{std::pow(1.1, 7)});
  EXPECT_EQ(apply("math.atan2", "f32", {{1, 0}, {0, -1}}), (Numbers{float(M_PI / 2), float(M_PI)}));
  EXPECT_EQ(apply("math.copysign", "f32", {{1, -2}, {-0.0, 5}}), (Numbers{-1, 2}));
  EXPECT_EQ(evaluate({"f32", "f32", "f32"}, {{-1, 0.5, 7}, {0, 0, 0}, {1, 1, 1}}, "f32",
                     "%r = math.clampf %a to [%b, %c] : tensor<Nxf32>"),
            (Numbers{0, 0.5, 1}));
}

TEST(Math, FusedMultiplyAddRoundsOnce) {
  // (1 + 2^-23)^2 - (1 + 2^-22) is 2^-46, which two roundings lose.
  double x = 1 + 0x1p-23, c = -(1 + 0x1p-22);
  EXPECT_EQ(apply("math.fma", "f32", {{x}, {x}, {c}}), Numbers{0x1p-46});
  EXPECT_EQ(apply("math.fma", "f64", {{1 + 0x1p-52}, {1 + 0x1p-52}, {-(1 + 0x1p-51)}}), Numbers{0x1p-104});
  double h = 1 + 0x1p-10;
  EXPECT_EQ(apply("math.fma", "f16", {{h}, {h}, {-(1 + 0x1p-9)}}), Numbers{0x1p-20});
  EXPECT_EQ(apply("math.fma", "bf16", {{3}, {5}, {1}}), Numbers{16});
  // 1 + 2^-11 is a tie in f16; a product that no float sum can represent breaks it.
  EXPECT_EQ(apply("math.fma", "f16", {{0x1p-11}, {1 + 0x1p-10}, {1}}), Numbers{1 + 0x1p-10});
}

TEST(Math, IntegerPowersOfFloats) {
  EXPECT_EQ(evaluate({"f32", "i32"}, {{2, 3, -2}, {10, -1, 3}}, "f32",
                     "%r = math.fpowi %a, %b : tensor<Nxf32>, tensor<Nxi32>"),
            (Numbers{1024, double(float(1.0 / 3)), -8}));
  EXPECT_EQ(evaluate({"f64", "i64"}, {{2}, {-3}}, "f64", "%r = math.fpowi %a, %b : tensor<Nxf64>, tensor<Nxi64>"),
            Numbers{0.125});
}

TEST(Math, Classification) {
  const Numbers values{1, INFINITY, -INFINITY, NAN};
  const std::pair<const char *, Numbers> cases[] = {
      {"math.isnan", {0, 0, 0, 1}}, {"math.isinf", {0, 1, 1, 0}}, {"math.isfinite", {1, 0, 0, 0}}};
  for (const auto &[op, expected] : cases)
    for (const std::string &type : {"f8E5M2", "f16", "bf16", "f32", "f64"})
      EXPECT_EQ(evaluate({type}, {values}, "i1", "%r = " + std::string(op) + " %a : tensor<Nx" + type + ">"), expected)
          << op << " " << type;
}

TEST(Math, BitCounts) {
  for (const auto &[type, width] : {std::pair{"i8", 8}, {"i16", 16}, {"i32", 32}, {"i64", 64}}) {
    double bits = width;
    EXPECT_EQ(apply("math.ctpop", type, {{0, 5, -1}}), (Numbers{0, 2, bits})) << type;
    EXPECT_EQ(apply("math.ctlz", type, {{0, 1, -1}}), (Numbers{bits, bits - 1, 0})) << type;
    EXPECT_EQ(apply("math.cttz", type, {{0, 8, -1}}), (Numbers{bits, 3, 0})) << type;
    EXPECT_EQ(apply("math.absi", type, {{0, -8, 9}}), (Numbers{0, 8, 9})) << type;
  }
}

} // namespace
} // namespace tile::interp::test
