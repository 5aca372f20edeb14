// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions between every pair of types.
#include "Harness.h"

namespace tile::interp::test {
namespace {

using Numbers = std::vector<double>;

Numbers cast(const std::string &op, const std::string &from, const std::string &to, const Numbers &values) {
  return evaluate({from}, {values}, to, "%r = " + op + " %a : tensor<Nx" + from + "> to tensor<Nx" + to + ">");
}

const std::vector<std::string> kIntegers = {"i1", "i8", "i16", "i32", "i64"};
const std::vector<std::string> kFloats = {"f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64"};

TEST(Cast, IntegersGetWider) {
  for (size_t from = 0; from < kIntegers.size(); ++from)
    for (size_t to = from + 1; to < kIntegers.size(); ++to) {
      double ones = from == 0 ? 1 : std::exp2(8 << (from - 1)) - 1;
      EXPECT_EQ(cast("arith.extsi", kIntegers[from], kIntegers[to], {0, from ? -1.0 : 1.0}), (Numbers{0, -1}));
      EXPECT_EQ(cast("arith.extui", kIntegers[from], kIntegers[to], {0, from ? -1.0 : 1.0}), (Numbers{0, ones}));
    }
}

TEST(Cast, IntegersGetNarrower) {
  for (size_t from = 1; from < kIntegers.size(); ++from)
    for (size_t to = 0; to < from; ++to)
      EXPECT_EQ(cast("arith.trunci", kIntegers[from], kIntegers[to], {2, -1}), (to ? Numbers{2, -1} : Numbers{0, 1}));
  EXPECT_EQ(cast("arith.trunci", "i32", "i8", {300}), Numbers{44});
}

TEST(Cast, IndexCasts) {
  EXPECT_EQ(evaluate({"i32"}, {{-5, 7}}, "i64",
                     "%i = arith.index_cast %a : tensor<Nxi32> to tensor<Nxindex>\n"
                     "%r = arith.index_cast %i : tensor<Nxindex> to tensor<Nxi64>"),
            (Numbers{-5, 7}));
  EXPECT_EQ(evaluate({"i32"}, {{-1, 7}}, "i64",
                     "%i = arith.index_castui %a : tensor<Nxi32> to tensor<Nxindex>\n"
                     "%r = arith.index_castui %i : tensor<Nxindex> to tensor<Nxi64>"),
            (Numbers{0xffffffff, 7}));
}

TEST(Cast, FloatsToFloats) {
  const Numbers exact{1.5, -2, 0.25, 0};
  for (const std::string &from : kFloats)
    for (const std::string &to : kFloats) {
      unsigned fromBits = from == "f64" ? 64 : from == "f32" ? 32 : from[0] == 'f' && from[1] == '8' ? 8 : 16;
      unsigned toBits = to == "f64" ? 64 : to == "f32" ? 32 : to[0] == 'f' && to[1] == '8' ? 8 : 16;
      if (fromBits != toBits)
        EXPECT_EQ(cast(fromBits < toBits ? "arith.extf" : "arith.truncf", from, to, exact), exact) << from << " " << to;
    }
}

TEST(Cast, TruncationRoundsOnceToNearestEven) {
  EXPECT_EQ(cast("arith.truncf", "f32", "f16", {2049, 2051, 70000}), (Numbers{2048, 2052, INFINITY}));
  EXPECT_EQ(cast("arith.truncf", "f32", "bf16", {257, 259}), (Numbers{256, 260}));
  EXPECT_EQ(cast("arith.truncf", "f32", "f8E4M3FN", {17, 19, 1000, -1000}), (Numbers{16, 20, 448, -448}));
  EXPECT_EQ(cast("arith.truncf", "f32", "f8E5M2", {9, 11, 1e6}), (Numbers{8, 12, 57344}));
  // Just above the midpoint of two f16 values, by less than a float can represent.
  EXPECT_EQ(cast("arith.truncf", "f64", "f16", {2049 + 0x1p-30}), Numbers{2050});
  EXPECT_EQ(cast("arith.truncf", "f64", "f32", {1 + 0x1p-25}), Numbers{1});
}

TEST(Cast, TruncationTowardZeroOnRequest) {
  EXPECT_EQ(cast("arith.truncf", "f32", "f16", {2051}), Numbers{2052});
  auto towardZero = [](const std::string &from, const std::string &to, double value) {
    return evaluate({from}, {{value}}, to,
                    "%r = arith.truncf %a toward_zero : tensor<Nx" + from + "> to tensor<Nx" + to + ">")[0];
  };
  EXPECT_EQ(towardZero("f32", "f16", 2051), 2050);
  EXPECT_EQ(towardZero("f64", "f16", -2051), -2050);
  EXPECT_EQ(towardZero("f32", "bf16", 259), 258);
  EXPECT_EQ(towardZero("f64", "f32", 1 + 0x1.8p-23), 1 + 0x1p-23);
}

TEST(Cast, OtherRoundingModesAreUnsupported) {
  std::vector<float> a(1);
  std::vector<uint16_t> r(1);
  std::string message =
      Launch(elementwise({"f32"}, "f16", 1, "%r = arith.truncf %a upward : tensor<1xf32> to tensor<1xf16>"))
          .buffer(a, "a")
          .buffer(r, "r")
          .message();
  EXPECT_EQ(message, "kernel.tile:8:6: error: the interpreter does not support rounding mode 'upward'");
}

TEST(Cast, IntegersToFloats) {
  for (const std::string &from : kIntegers)
    for (const std::string &to : kFloats) {
      if (from == "i1") {
        EXPECT_EQ(cast("arith.sitofp", from, to, {0, 1}), (Numbers{0, -1})) << to;
        EXPECT_EQ(cast("arith.uitofp", from, to, {0, 1}), (Numbers{0, 1})) << to;
      } else {
        EXPECT_EQ(cast("arith.sitofp", from, to, {-3, 40}), (Numbers{-3, 40})) << from << " " << to;
        EXPECT_EQ(cast("arith.uitofp", from, to, {3, 40}), (Numbers{3, 40})) << from << " " << to;
      }
    }
  EXPECT_EQ(cast("arith.uitofp", "i8", "f32", {-1}), Numbers{255});
  EXPECT_EQ(cast("arith.uitofp", "i64", "f64", {-1}), Numbers{0x1p64});
  EXPECT_EQ(cast("arith.sitofp", "i32", "f16", {2051}), Numbers{2052});
  // 2^60 + 2^52 is a tie in bf16. One more unit breaks it, but neither float nor double can represent that.
  std::vector<int64_t> a{(int64_t(1) << 60) + (int64_t(1) << 52) + 1};
  std::vector<uint16_t> r(1);
  Launch(elementwise({"i64"}, "bf16", 1, "%r = arith.sitofp %a : tensor<1xi64> to tensor<1xbf16>"))
      .buffer(a, "a")
      .buffer(r, "r")
      .run();
  EXPECT_EQ(decode(Kind::BF16, r[0]), 0x1p60f + 0x1p53f);
}

TEST(Cast, FloatsToIntegersTruncateAndSaturate) {
  for (const std::string &from : {"f16", "bf16", "f32", "f64"})
    for (const std::string &to : {"i8", "i16", "i32", "i64"}) {
      // PTX ISA, "cvt": NaN gives 0, or the highest bit where one of the types has 64.
      double nan = from == "f64" || to == "i64" ? -std::ldexp(1.0, std::stoi(to.substr(1)) - 1) : 0.0;
      EXPECT_EQ(cast("arith.fptosi", from, to, {2.75, -2.75, 100, NAN}), (Numbers{2, -2, 100, nan})) << from << to;
      EXPECT_EQ(cast("arith.fptoui", from, to, {2.75, -2.75, 100, NAN}), (Numbers{2, 0, 100, nan})) << from << to;
    }
  EXPECT_EQ(cast("arith.fptosi", "f32", "i8", {1000, -1000}), (Numbers{127, -128}));
  EXPECT_EQ(cast("arith.fptosi", "f32", "i32", {0x1p31, -0x1p31}), (Numbers{2147483647, -2147483648.0}));
  EXPECT_EQ(cast("arith.fptoui", "f32", "i8", {255, 256}), (Numbers{-1, -1}));
  EXPECT_EQ(cast("arith.fptosi", "f32", "i32", {1e20, -INFINITY}), (Numbers{2147483647, -2147483648.0}));
  EXPECT_EQ(cast("arith.fptoui", "f32", "i32", {1e20}), Numbers{-1}); // all ones
  EXPECT_EQ(cast("arith.fptosi", "f64", "i64", {1e20, -1e20}), (Numbers{0x1p63, -0x1p63}));
  EXPECT_EQ(cast("arith.fptoui", "f32", "i1", {0.5, 1, 7}), (Numbers{0, 1, 1}));
  EXPECT_EQ(cast("arith.fptosi", "f32", "i1", {0.5, -1, 7}), (Numbers{0, 1, 0}));
  EXPECT_EQ(cast("arith.fptosi", "f8E5M2", "i32", {-6}), Numbers{-6});
}

TEST(Cast, BitcastsKeepTheBitsInMemory) {
  EXPECT_EQ(cast("arith.bitcast", "f32", "i32", {1}), Numbers{0x3f800000});
  EXPECT_EQ(cast("arith.bitcast", "i32", "f32", {0x40000000}), Numbers{2});
  EXPECT_EQ(cast("arith.bitcast", "f16", "i16", {1}), Numbers{0x3c00});
  EXPECT_EQ(cast("arith.bitcast", "i16", "f16", {0x4000}), Numbers{2});
  EXPECT_EQ(cast("arith.bitcast", "i16", "bf16", {0x4000}), Numbers{2});
  EXPECT_EQ(cast("arith.bitcast", "bf16", "f16", {2}), Numbers{2}); // 0x4000 in both
  EXPECT_EQ(cast("arith.bitcast", "f8E4M3FN", "i8", {1}), Numbers{0x38});
  EXPECT_EQ(cast("arith.bitcast", "i8", "f8E5M2", {0x40}), Numbers{2});
  EXPECT_EQ(cast("arith.bitcast", "f64", "i64", {1}), Numbers{double(0x3ff0000000000000)});
  EXPECT_EQ(cast("arith.bitcast", "i64", "f64", {double(0x3ff0000000000000)}), Numbers{1});
}

} // namespace
} // namespace tile::interp::test
