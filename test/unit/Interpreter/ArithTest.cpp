// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation of `arith` on every type, against closed forms.
#include "Harness.h"

#include "llvm/ADT/APFloat.h"

namespace tile::interp::test {
namespace {

using Numbers = std::vector<double>;

const std::string kIntegers[] = {"i8", "i16", "i32", "i64"};
const std::string kFloats[] = {"f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64"};

struct IntegerCase {
  const char *op;
  Numbers a, b, expected;
};

// The values are correct for every width from 8 bits on.
const IntegerCase kIntegerCases[] = {
    {"arith.addi", {7, -7, 100, 0}, {3, 3, 20, -1}, {10, -4, 120, -1}},
    {"arith.subi", {7, -7, -100, 0}, {3, 3, 20, -1}, {4, -10, -120, 1}},
    {"arith.muli", {7, -7, 11, 0}, {3, 3, 11, -1}, {21, -21, 121, 0}},
    {"arith.divsi", {7, -7, 7, -7}, {3, 3, -3, -1}, {2, -2, -2, 7}},
    {"arith.remsi", {7, -7, 7, -7}, {3, 3, -3, -1}, {1, -1, 1, 0}},
    {"arith.floordivsi", {7, -7, 7, 6}, {3, 3, -3, -3}, {2, -3, -3, -2}},
    {"arith.ceildivsi", {7, -7, 7, -6}, {3, 3, -3, -3}, {3, -2, -2, 2}},
    {"arith.divui", {7, 9, 100, 0}, {3, 3, 7, 5}, {2, 3, 14, 0}},
    {"arith.remui", {7, 9, 100, 0}, {3, 3, 7, 5}, {1, 0, 2, 0}},
    {"arith.ceildivui", {7, 9, 100, 0}, {3, 3, 7, 5}, {3, 3, 15, 0}},
    {"arith.andi", {12, -1, 5, 0}, {10, 77, 2, -1}, {8, 77, 0, 0}},
    {"arith.ori", {12, -1, 5, 0}, {10, 77, 2, -1}, {14, -1, 7, -1}},
    {"arith.xori", {12, -1, 5, 0}, {10, 77, 2, -1}, {6, -78, 7, -1}},
    {"arith.maxsi", {1, -1, 5, -128}, {0, 1, 5, 127}, {1, 1, 5, 127}},
    {"arith.minsi", {1, -1, 5, -128}, {0, 1, 5, 127}, {0, -1, 5, -128}},
    {"arith.maxui", {1, -1, 5, 0}, {0, 1, 5, 127}, {1, -1, 5, 127}},
    {"arith.minui", {1, -1, 5, 0}, {0, 1, 5, 127}, {0, 1, 5, 0}},
    {"arith.shli", {1, -1, 3, 1}, {3, 2, 5, 64}, {8, -4, 96, 0}},
    {"arith.shrsi", {64, -64, -1, -5}, {3, 2, 5, 64}, {8, -16, -1, -1}},
    {"arith.shrui", {64, 8, 3, 127}, {3, 2, 5, 64}, {8, 2, 0, 0}},
    {"math.ipowi", {2, -3, 1, 2}, {6, 3, -5, -1}, {64, -27, 1, 0}},
};

TEST(Arith, IntegerOperationsOnEveryWidth) {
  for (const IntegerCase &test : kIntegerCases)
    for (const std::string &type : kIntegers)
      EXPECT_EQ(apply(test.op, type, {test.a, test.b}), test.expected) << test.op << " " << type;
}

TEST(Arith, IntegersWrapAtTheirWidth) {
  EXPECT_EQ(apply("arith.addi", "i8", {{127}, {1}}), Numbers{-128});
  EXPECT_EQ(apply("arith.addi", "i16", {{32767}, {1}}), Numbers{-32768});
  EXPECT_EQ(apply("arith.addi", "i32", {{2147483647}, {1}}), Numbers{-2147483648.0});
  EXPECT_EQ(apply("arith.muli", "i16", {{0x7fff}, {0x7fff}}), Numbers{1});
  EXPECT_EQ(apply("arith.muli", "i64", {{0x1p62}, {4}}), Numbers{0});
  EXPECT_EQ(apply("arith.divsi", "i32", {{-2147483648.0}, {-1}}), Numbers{-2147483648.0});
  EXPECT_EQ(apply("arith.remsi", "i32", {{-2147483648.0}, {-1}}), Numbers{0});
  EXPECT_EQ(apply("arith.divui", "i8", {{-1}, {2}}), Numbers{127});
  EXPECT_EQ(apply("arith.shrui", "i8", {{-1}, {4}}), Numbers{15});
}

TEST(Arith, SingleBits) {
  const Numbers a{0, 0, 1, 1}, b{0, 1, 0, 1};
  EXPECT_EQ(apply("arith.addi", "i1", {a, b}), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(apply("arith.muli", "i1", {a, b}), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(apply("arith.andi", "i1", {a, b}), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(apply("arith.xori", "i1", {a, b}), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(apply("arith.ori", "i1", {a, b}), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(apply("arith.maxsi", "i1", {a, b}), (Numbers{0, 0, 0, 1})); // the bit is -1
  EXPECT_EQ(apply("arith.maxui", "i1", {a, b}), (Numbers{0, 1, 1, 1}));
  EXPECT_EQ(evaluate({"i1", "i1"}, {a, b}, "i1", "%r = arith.cmpi slt, %a, %b : tensor<Nxi1>"), (Numbers{0, 0, 1, 0}));
  EXPECT_EQ(evaluate({"i1", "i1"}, {a, b}, "i1", "%r = arith.cmpi ult, %a, %b : tensor<Nxi1>"), (Numbers{0, 1, 0, 0}));
}

TEST(Arith, ExtendedProductsAndSums) {
  auto high = [](const std::string &op, const std::string &type, double a, double b) {
    return evaluate({type, type}, {{a}, {b}}, type, "%low, %r = arith." + op + " %a, %b : tensor<Nx" + type + ">")[0];
  };
  EXPECT_EQ(high("mului_extended", "i8", -1, -1), -2); // 255 * 255 = 0xfe01
  EXPECT_EQ(high("mulsi_extended", "i8", -1, 2), -1);
  EXPECT_EQ(high("mului_extended", "i32", -1, 2), 1);
  EXPECT_EQ(high("mulsi_extended", "i32", -1, -1), 0);
  EXPECT_EQ(high("mului_extended", "i64", -1, 2), 1);
  EXPECT_EQ(high("mulsi_extended", "i64", 0x1p62, 8), 2);
  EXPECT_EQ(evaluate({"i32", "i32"}, {{-1, 1}, {1, 1}}, "i1",
                     "%sum, %r = arith.addui_extended %a, %b : tensor<Nxi32>, tensor<Nxi1>"),
            (Numbers{1, 0}));
}

TEST(Arith, IntegerComparisons) {
  const Numbers a{-1, 1, 5}, b{1, -1, 5};
  const std::pair<const char *, Numbers> cases[] = {
      {"eq", {0, 0, 1}},  {"ne", {1, 1, 0}},  {"slt", {1, 0, 0}}, {"sle", {1, 0, 1}}, {"sgt", {0, 1, 0}},
      {"sge", {0, 1, 1}}, {"ult", {0, 1, 0}}, {"ule", {0, 1, 1}}, {"ugt", {1, 0, 0}}, {"uge", {1, 0, 1}}};
  for (const auto &[predicate, expected] : cases)
    for (const std::string &type : kIntegers)
      EXPECT_EQ(evaluate({type, type}, {a, b}, "i1",
                         std::string("%r = arith.cmpi ") + predicate + ", %a, %b : tensor<Nx" + type + ">"),
                expected)
          << predicate << " " << type;
}

TEST(Arith, FloatComparisons) {
  const Numbers a{1, 2, 2, NAN}, b{2, 1, 2, 1};
  const std::pair<const char *, Numbers> cases[] = {
      {"false", {0, 0, 0, 0}}, {"oeq", {0, 0, 1, 0}}, {"ogt", {0, 1, 0, 0}}, {"oge", {0, 1, 1, 0}},
      {"olt", {1, 0, 0, 0}},   {"ole", {1, 0, 1, 0}}, {"one", {1, 1, 0, 0}}, {"ord", {1, 1, 1, 0}},
      {"ueq", {0, 0, 1, 1}},   {"ugt", {0, 1, 0, 1}}, {"uge", {0, 1, 1, 1}}, {"ult", {1, 0, 0, 1}},
      {"ule", {1, 0, 1, 1}},   {"une", {1, 1, 0, 1}}, {"uno", {0, 0, 0, 1}}, {"true", {1, 1, 1, 1}}};
  for (const auto &[predicate, expected] : cases)
    for (const std::string &type : kFloats)
      EXPECT_EQ(evaluate({type, type}, {a, b}, "i1",
                         std::string("%r = arith.cmpf ") + predicate + ", %a, %b : tensor<Nx" + type + ">"),
                expected)
          << predicate << " " << type;
}

/// Computes in the type itself, with LLVM's software floating point.
double reference(const std::string &op, const std::string &type, double a, double b) {
  const llvm::fltSemantics &semantics = type == "f16"        ? llvm::APFloat::IEEEhalf()
                                        : type == "bf16"     ? llvm::APFloat::BFloat()
                                        : type == "f8E4M3FN" ? llvm::APFloat::Float8E4M3FN()
                                        : type == "f8E5M2"   ? llvm::APFloat::Float8E5M2()
                                        : type == "f32"      ? llvm::APFloat::IEEEsingle()
                                                             : llvm::APFloat::IEEEdouble();
  llvm::APFloat left(a), right(b);
  bool lost;
  auto mode = llvm::APFloat::rmNearestTiesToEven;
  left.convert(semantics, mode, &lost);
  right.convert(semantics, mode, &lost);
  if (op == "arith.addf")
    left.add(right, mode);
  else if (op == "arith.subf")
    left.subtract(right, mode);
  else if (op == "arith.mulf")
    left.multiply(right, mode);
  else if (op == "arith.divf")
    left.divide(right, mode);
  else if (op == "arith.remf")
    left.mod(right);
  left.convert(llvm::APFloat::IEEEdouble(), mode, &lost);
  return left.convertToDouble();
}

TEST(Arith, FloatArithmeticRoundsToTheTypeAfterEachOperation) {
  Numbers a, b;
  for (double x : {1.0, 1.25, 3.5, -7.0, 0.015625, 12.0, -0.75, 0.0625}) // exact in every type
    for (double y : {1.75, 3.0, -1.25, 0.0625, 10.0, -5.0, 0.125, 2.5}) {
      a.push_back(x);
      b.push_back(y);
    }
  for (const char *op : {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf"})
    for (const std::string &type : kFloats) {
      Numbers result = apply(op, type, {a, b});
      for (size_t i = 0; i < a.size(); ++i)
        EXPECT_EQ(result[i], reference(op, type, a[i], b[i])) << op << " " << type << " " << a[i] << ", " << b[i];
    }
}

TEST(Arith, HalfSumsAreRoundedStepByStep) {
  // 2048 + 1 is a tie in f16 and goes to 2048; in float the sum of three would be 2050.
  EXPECT_EQ(evaluate({"f16", "f16"}, {{2048}, {1}}, "f16",
                     "%s = arith.addf %a, %b : tensor<Nxf16>\n%r = arith.addf %s, %b : tensor<Nxf16>"),
            Numbers{2048});
  EXPECT_EQ(apply("arith.addf", "f16", {{65504}, {65504}}), Numbers{INFINITY});
  EXPECT_EQ(apply("arith.addf", "f8E4M3FN", {{448}, {448}}), Numbers{448}); // saturates
  EXPECT_EQ(apply("arith.mulf", "bf16", {{0x1p120}, {0x1p120}}), Numbers{INFINITY});
}

TEST(Arith, MinimaAndMaxima) {
  const Numbers a{1, -2, 3}, b{2, -3, 3};
  for (const std::string &type : kFloats) {
    for (const char *op : {"arith.maximumf", "arith.maxnumf"})
      EXPECT_EQ(apply(op, type, {a, b}), (Numbers{2, -2, 3})) << op << " " << type;
    for (const char *op : {"arith.minimumf", "arith.minnumf"})
      EXPECT_EQ(apply(op, type, {a, b}), (Numbers{1, -3, 3})) << op << " " << type;
    EXPECT_EQ(apply("arith.maxnumf", type, {{NAN, 1}, {1, NAN}}), (Numbers{1, 1}));
    EXPECT_EQ(apply("arith.minnumf", type, {{NAN, 1}, {1, NAN}}), (Numbers{1, 1}));
    for (const char *op : {"arith.maximumf", "arith.minimumf"})
      for (double value : apply(op, type, {{NAN, 1}, {1, NAN}}))
        EXPECT_TRUE(std::isnan(value)) << op << " " << type;
    EXPECT_FALSE(std::signbit(apply("arith.maximumf", type, {{-0.0}, {0.0}})[0]));
    EXPECT_TRUE(std::signbit(apply("arith.minimumf", type, {{0.0}, {-0.0}})[0]));
    EXPECT_EQ(apply("arith.negf", type, {{1, -2}}), (Numbers{-1, 2}));
  }
}

TEST(Arith, SelectOfEveryType) {
  for (const std::string &type : {"i1", "i8", "i16", "i32", "i64", "f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64"}) {
    std::string tensor = "tensor<Nx" + type + ">";
    EXPECT_EQ(evaluate({"i1", type, type}, {{1, 0, 1, 0}, {1, 1, 1, 1}, {0, 0, 0, 0}}, type,
                       "%r = arith.select %a, %b, %c : tensor<Nxi1>, " + tensor),
              (Numbers{1, 0, 1, 0}));
    EXPECT_EQ(evaluate({type, type}, {{1, 1, 1, 1}, {0, 0, 0, 0}}, type,
                       "%no = arith.constant false\n%r = arith.select %no, %a, %b : " + tensor),
              (Numbers{0, 0, 0, 0}));
  }
}

TEST(Arith, SelectOfPointersAndDescriptors) {
  std::vector<int32_t> a{1, 2}, b{3, 4}, r(2);
  Launch(kernel("%a: !tile.ptr<i32>, %b: !tile.ptr<i32>, %r: !tile.ptr<i32>", R"(
    %i = tile.arange 0 to 2 : tensor<2xi32>
    %one = arith.constant dense<1> : tensor<2xi32>
    %as = tile.splat %a : !tile.ptr<i32> -> tensor<2x!tile.ptr<i32>>
    %bs = tile.splat %b : !tile.ptr<i32> -> tensor<2x!tile.ptr<i32>>
    %rs = tile.splat %r : !tile.ptr<i32> -> tensor<2x!tile.ptr<i32>>
    %mask = arith.cmpi eq, %i, %one : tensor<2xi32>
    %p = arith.select %mask, %bs, %as : tensor<2xi1>, tensor<2x!tile.ptr<i32>>
    %q = tile.addptr %p, %i : tensor<2x!tile.ptr<i32>>, tensor<2xi32>
    %x = tile.load %q : tensor<2x!tile.ptr<i32>>
    %rp = tile.addptr %rs, %i : tensor<2x!tile.ptr<i32>>, tensor<2xi32>
    tile.store %rp, %x : tensor<2x!tile.ptr<i32>>)"))
      .buffer(a, "a")
      .buffer(b, "b")
      .buffer(r, "r")
      .run();
  EXPECT_EQ(r, (std::vector<int32_t>{1, 4}));
}

} // namespace
} // namespace tile::interp::test
