// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations that create, move and combine tensors: constants, shapes, dots and reductions.
#include "Harness.h"

namespace tile::interp::test {
namespace {

using Numbers = std::vector<double>;

/// Runs `text`, which computes %r of the result's element type with `count` elements under any shape; the inputs are
/// tensors %a, %b, … of the given one-dimensional sizes.
Numbers compute(const std::vector<std::pair<std::string, Numbers>> &inputs, const std::string &result, size_t count,
                const std::string &text) {
  std::string parameters, body;
  std::vector<std::vector<char>> memories;
  auto address = [&](std::string name, const std::string &type, size_t size) {
    std::string pointers = "tensor<" + std::to_string(size) + "x!tile.ptr<" + type + ">>";
    parameters += "%" + name + "_ptr: !tile.ptr<" + type + ">, ";
    body += "%" + name + "_i = tile.arange 0 to " + std::to_string(size) + " : tensor<" + std::to_string(size) +
            "xi32>\n%" + name + "_base = tile.splat %" + name + "_ptr : !tile.ptr<" + type + "> -> " + pointers +
            "\n%" + name + "_at = tile.addptr %" + name + "_base, %" + name + "_i : " + pointers + ", tensor<" +
            std::to_string(size) + "xi32>\n";
    return pointers;
  };
  for (const auto &[type, values] : inputs) {
    std::string name(1, char('a' + memories.size())), pointers = address(name, type, values.size());
    body += "%" + name + " = tile.load %" + name + "_at : " + pointers + "\n";
    memories.push_back(toMemory(type, values));
  }
  std::string pointers = address("r", result, count);
  parameters.resize(parameters.size() - 2);
  Launch launch(kernel(parameters, body + text + "\ntile.store %r_at, %r : " + pointers));
  memories.push_back(std::vector<char>(count * bytesInMemory(kindNamed(result)), 0x55));
  for (std::vector<char> &memory : memories)
    launch.buffer(memory, "buffer");
  launch.run();
  return fromMemory(result, memories.back());
}

Numbers sequence(int count, double start = 0) {
  Numbers values;
  for (int i = 0; i < count; ++i)
    values.push_back(start + i);
  return values;
}

TEST(Create, ConstantsOfEveryType) {
  for (const std::string &type : {"i8", "i16", "i32", "i64"})
    EXPECT_EQ(compute({}, type, 4, "%r = arith.constant dense<[1, -2, 3, 0]> : tensor<4x" + type + ">"),
              (Numbers{1, -2, 3, 0}));
  for (const std::string &type : {"f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64"}) {
    EXPECT_EQ(compute({}, type, 4, "%r = arith.constant dense<[1.0, -2.0, 3.0, 0.0]> : tensor<4x" + type + ">"),
              (Numbers{1, -2, 3, 0}));
    EXPECT_EQ(compute({}, type, 2, "%r = arith.constant dense<1.5> : tensor<2x" + type + ">"), (Numbers{1.5, 1.5}));
    EXPECT_EQ(
        compute({}, type, 2,
                "%c = arith.constant -3.0 : " + type + "\n%r = tile.splat %c : " + type + " -> tensor<2x" + type + ">"),
        (Numbers{-3, -3}));
  }
  EXPECT_EQ(compute({}, "i1", 2, "%r = arith.constant dense<[true, false]> : tensor<2xi1>"), (Numbers{1, 0}));
  EXPECT_EQ(compute({}, "i1", 2, "%c = arith.constant true\n%r = tile.splat %c : i1 -> tensor<2xi1>"), (Numbers{1, 1}));
}

TEST(Create, RangesStartAnywhere) {
  EXPECT_EQ(compute({}, "i32", 4, "%r = tile.arange -2 to 2 : tensor<4xi32>"), sequence(4, -2));
}

TEST(Create, ConstantsAreNotOverwritten) {
  // The sum is in memory where a constant of the same size might have been placed.
  EXPECT_EQ(compute({}, "i32", 2, R"(
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %zero = arith.constant dense<0> : tensor<2xi32>
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %zero) -> (tensor<2xi32>) : i32 {
      %x = tile.splat %i : i32 -> tensor<2xi32>
      %y = arith.addi %x, %x : tensor<2xi32>
      %one = arith.constant dense<1> : tensor<2xi32>
      %z = arith.addi %y, %one : tensor<2xi32>
      %next = arith.addi %sum, %z : tensor<2xi32>
      scf.yield %next : tensor<2xi32>
    })"),
            (Numbers{9, 9}));
}

TEST(Shape, ReshapeAndExpandDimsKeepTheOrder) {
  EXPECT_EQ(compute({{"i16", sequence(8)}}, "i16", 8,
                    "%x = tile.reshape %a : tensor<8xi16> -> tensor<2x4xi16>\n"
                    "%y = tile.expand_dims %x {axis = 1 : i32} : tensor<2x4xi16> -> tensor<2x1x4xi16>\n"
                    "%r = tile.reshape %y : tensor<2x1x4xi16> -> tensor<8xi16>"),
            sequence(8));
}

TEST(Shape, BroadcastRepeatsRowsAndColumns) {
  EXPECT_EQ(compute({{"i8", {1, 2}}}, "i8", 4,
                    "%x = tile.expand_dims %a {axis = 1 : i32} : tensor<2xi8> -> tensor<2x1xi8>\n"
                    "%y = tile.broadcast %x : tensor<2x1xi8> -> tensor<2x2xi8>\n"
                    "%r = tile.reshape %y : tensor<2x2xi8> -> tensor<4xi8>"),
            (Numbers{1, 1, 2, 2}));
  EXPECT_EQ(compute({{"f64", {1, 2}}}, "f64", 4,
                    "%x = tile.expand_dims %a {axis = 0 : i32} : tensor<2xf64> -> tensor<1x2xf64>\n"
                    "%y = tile.broadcast %x : tensor<1x2xf64> -> tensor<2x2xf64>\n"
                    "%r = tile.reshape %y : tensor<2x2xf64> -> tensor<4xf64>"),
            (Numbers{1, 2, 1, 2}));
  EXPECT_EQ(compute({{"i32", {1, 2, 3, 4}}}, "i32", 8,
                    "%x = tile.reshape %a : tensor<4xi32> -> tensor<2x1x2xi32>\n"
                    "%y = tile.broadcast %x : tensor<2x1x2xi32> -> tensor<2x2x2xi32>\n"
                    "%r = tile.reshape %y : tensor<2x2x2xi32> -> tensor<8xi32>"),
            (Numbers{1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(Shape, TransposeOfTwoAndThreeDimensions) {
  EXPECT_EQ(compute({{"f16", sequence(8)}}, "f16", 8,
                    "%x = tile.reshape %a : tensor<8xf16> -> tensor<2x4xf16>\n"
                    "%y = tile.trans %x {order = array<i32: 1, 0>} : tensor<2x4xf16> -> tensor<4x2xf16>\n"
                    "%r = tile.reshape %y : tensor<4x2xf16> -> tensor<8xf16>"),
            (Numbers{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(compute({{"i8", sequence(8)}}, "i8", 8,
                    "%x = tile.reshape %a : tensor<8xi8> -> tensor<2x2x2xi8>\n"
                    "%y = tile.trans %x {order = array<i32: 2, 0, 1>} : tensor<2x2x2xi8> -> tensor<2x2x2xi8>\n"
                    "%r = tile.reshape %y : tensor<2x2x2xi8> -> tensor<8xi8>"),
            (Numbers{0, 2, 4, 6, 1, 3, 5, 7}));
}

TEST(Shape, PointersMoveLikeNumbers) {
  EXPECT_EQ(compute({{"i32", {1, 2, 3, 4}}}, "i32", 4, R"(
    %x = tile.reshape %a_at : tensor<4x!tile.ptr<i32>> -> tensor<2x2x!tile.ptr<i32>>
    %y = tile.trans %x {order = array<i32: 1, 0>} : tensor<2x2x!tile.ptr<i32>> -> tensor<2x2x!tile.ptr<i32>>
    %z = tile.reshape %y : tensor<2x2x!tile.ptr<i32>> -> tensor<4x!tile.ptr<i32>>
    %r = tile.load %z : tensor<4x!tile.ptr<i32>>)"),
            (Numbers{1, 3, 2, 4}));
}

struct DotCase {
  const char *in, *acc;
};

TEST(Dot, EveryTypeAndRaggedSizes) {
  const DotCase cases[] = {{"f16", "f32"},    {"f16", "f16"}, {"bf16", "f32"}, {"f8E4M3FN", "f32"},
                           {"f8E5M2", "f32"}, {"f32", "f32"}, {"f64", "f64"},  {"i8", "i32"}};
  struct Shape {
    int m, n, k;
  };
  for (const DotCase &test : cases)
    for (Shape shape : {Shape{1, 1, 1}, Shape{2, 4, 8}, Shape{4, 8, 2}, Shape{8, 16, 4}, Shape{16, 1, 2}}) {
      auto [m, n, k] = shape;
      Numbers a, b, c, expected;
      for (int i = 0; i < m * k; ++i)
        a.push_back(i % 5 - 2);
      for (int i = 0; i < k * n; ++i)
        b.push_back(i % 7 - 3);
      for (int i = 0; i < m * n; ++i)
        c.push_back(i % 3);
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = c[i * n + j];
          for (int p = 0; p < k; ++p)
            sum += a[i * k + p] * b[p * n + j];
          expected.push_back(sum);
        }
      auto tensor = [](int rows, int columns, const std::string &type) {
        return "tensor<" + std::to_string(rows) + "x" + std::to_string(columns) + "x" + type + ">";
      };
      auto flat = [](int count, const std::string &type) {
        return "tensor<" + std::to_string(count) + "x" + type + ">";
      };
      std::string text = "%a2 = tile.reshape %a : " + flat(m * k, test.in) + " -> " + tensor(m, k, test.in) +
                         "\n%b2 = tile.reshape %b : " + flat(k * n, test.in) + " -> " + tensor(k, n, test.in) +
                         "\n%c2 = tile.reshape %c : " + flat(m * n, test.acc) + " -> " + tensor(m, n, test.acc) +
                         "\n%d = tile.dot %a2, %b2, %c2 : " + tensor(m, k, test.in) + ", " + tensor(k, n, test.in) +
                         " -> " + tensor(m, n, test.acc) + "\n%r = tile.reshape %d : " + tensor(m, n, test.acc) +
                         " -> " + flat(m * n, test.acc);
      EXPECT_EQ(compute({{test.in, a}, {test.in, b}, {test.acc, c}}, test.acc, m * n, text), expected)
          << test.in << " " << test.acc << " " << m << "x" << n << "x" << k;
    }
}

double oneTerm(const std::string &type, const std::string &acc, double a, double b, double c,
               const std::string &attributes = "") {
  std::string in = "tensor<1x1x" + type + ">", out = "tensor<1x1x" + acc + ">";
  return compute({{type, {a}}, {type, {b}}, {acc, {c}}}, acc, 1,
                 "%a2 = tile.reshape %a : tensor<1x" + type + "> -> " + in + "\n%b2 = tile.reshape %b : tensor<1x" +
                     type + "> -> " + in + "\n%c2 = tile.reshape %c : tensor<1x" + acc + "> -> " + out +
                     "\n%d = tile.dot %a2, %b2, %c2 " + attributes + " : " + in + ", " + in + " -> " + out +
                     "\n%r = tile.reshape %d : " + out + " -> tensor<1x" + acc + ">")[0];
}

TEST(Dot, PrecisionOfFloatOperands) {
  const double x = 1 + 0x1p-12; // not a tf32 number
  const std::string tf32 = "{precision = #tile<precision tf32>}", tf32x3 = "{precision = #tile<precision tf32x3>}",
                    ieee = "{precision = #tile<precision ieee>}";
  EXPECT_EQ(oneTerm("f32", "f32", x, x, 0, tf32), 1);
  EXPECT_EQ(oneTerm("f32", "f32", x, x, 0), 1); // the default
  EXPECT_EQ(oneTerm("f32", "f32", x, 1, 0, ieee), x);
  EXPECT_EQ(oneTerm("f32", "f32", x, 1, 0, tf32x3), x);
  EXPECT_EQ(oneTerm("f32", "f32", 1, x, 0, tf32x3), x);
  EXPECT_EQ(oneTerm("f32", "f32", INFINITY, 1, 0, tf32), INFINITY);
}

TEST(Dot, HalfAccumulatorIsRounded) {
  EXPECT_EQ(oneTerm("f16", "f16", 1, 1, 2048), 2048);
  EXPECT_EQ(oneTerm("f16", "f32", 1, 1, 2048), 2049);
  EXPECT_EQ(oneTerm("i8", "i32", -128, -128, 2147483647), -2147483648.0 + 16383); // wraps
}

std::string reduceText(const std::string &combine, const std::string &type, const std::string &shape, int axis,
                       const std::string &resultShape) {
  return "%x = tile.reshape %a : tensor<8x" + type + "> -> tensor<" + shape + "x" + type +
         ">\n%y = tile.reduce %x {axis = " + std::to_string(axis) + " : i32} : tensor<" + shape + "x" + type +
         "> -> tensor<" + resultShape + "x" + type + "> {\n^bb0(%p: " + type + ", %q: " + type + "):\n%s = " + combine +
         " %p, %q : " + type + "\ntile.yield %s : " + type + "\n}\n";
}

TEST(Reduce, EveryTypeAndAxis) {
  const std::pair<std::string, std::string> adds[] = {{"i8", "addi"},  {"i16", "addi"}, {"i32", "addi"},
                                                      {"i64", "addi"}, {"f16", "addf"}, {"bf16", "addf"},
                                                      {"f32", "addf"}, {"f64", "addf"}};
  for (const auto &[type, add] : adds) {
    auto reduce = [&, type = type, add = add](const std::string &shape, int axis, const std::string &resultShape,
                                              int count) {
      return compute({{type, sequence(8, 1)}}, type, count,
                     reduceText("arith." + add, type, shape, axis, resultShape) + "%r = tile.reshape %y : tensor<" +
                         resultShape + "x" + type + "> -> tensor<" + std::to_string(count) + "x" + type + ">");
    };
    EXPECT_EQ(reduce("2x4", 0, "4", 4), (Numbers{6, 8, 10, 12})) << type;
    EXPECT_EQ(reduce("2x4", 1, "2", 2), (Numbers{10, 26})) << type;
    EXPECT_EQ(reduce("2x2x2", 1, "2x2", 4), (Numbers{4, 6, 12, 14})) << type;
    EXPECT_EQ(reduce("8x1", 1, "8", 8), sequence(8, 1)) << type; // nothing to combine
  }
}

TEST(Reduce, HalvesTheAxisInTheDocumentedOrder) {
  // Subtraction shows the order: ((0 - 4) - (2 - 6)) - ((1 - 5) - (3 - 7)).
  EXPECT_EQ(compute({{"f32", {1, 0, 0, 0, 10, 0, 0, 0}}}, "f32", 1, R"(
    %s = tile.reduce %a {axis = 0 : i32} : tensor<8xf32> -> f32 {
    ^bb0(%p: f32, %q: f32):
      %d = arith.subf %p, %q : f32
      tile.yield %d : f32
    }
    %r = tile.splat %s : f32 -> tensor<1xf32>)"),
            Numbers{-9});
}

TEST(Reduce, OddSizesKeepTheMiddleForLater) {
  EXPECT_EQ(compute({}, "i32", 2, R"(
    %c = arith.constant dense<[[1, 2, 3, 4, 5], [10, 20, 30, 40, 50]]> : tensor<2x5xi32>
    %r = tile.reduce %c {axis = 1 : i32} : tensor<2x5xi32> -> tensor<2xi32> {
    ^bb0(%p: i32, %q: i32):
      %d = arith.addi %p, %q : i32
      tile.yield %d : i32
    })"),
            (Numbers{15, 150}));
}

TEST(Reduce, ValueAndIndexTogether) {
  const std::string text = R"(
    %i = tile.arange 0 to 8 : tensor<8xi32>
    %v, %at = tile.reduce %a, %i {axis = 0 : i32} : tensor<8xf32>, tensor<8xi32> -> f32, i32 {
    ^bb0(%p: f32, %pi: i32, %q: f32, %qi: i32):
      %more = arith.cmpf ogt, %p, %q : f32
      %same = arith.cmpf oeq, %p, %q : f32
      %before = arith.cmpi slt, %pi, %qi : i32
      %tie = arith.andi %same, %before : i1
      %left = arith.ori %more, %tie : i1
      %m = arith.select %left, %p, %q : f32
      %mi = arith.select %left, %pi, %qi : i32
      tile.yield %m, %mi : f32, i32
    }
    %r = tile.splat %at : i32 -> tensor<1xi32>)";
  EXPECT_EQ(compute({{"f32", {1, 9, 3, 9, 5, 9, 0, 2}}}, "i32", 1, text), Numbers{1});
}

TEST(Reduce, RegionWithControlFlowOrOuterValues) {
  const std::string text = R"(
    %limit = arith.constant 3 : i32
    %s = tile.reduce %a {axis = 0 : i32} : tensor<8xi32> -> i32 {
    ^bb0(%p: i32, %q: i32):
      %more = arith.cmpi sgt, %p, %q : i32
      %m = scf.if %more -> (i32) {
        scf.yield %p : i32
      } else {
        %k = arith.maxsi %q, %limit : i32
        scf.yield %k : i32
      }
      tile.yield %m : i32
    }
    %r = tile.splat %s : i32 -> tensor<1xi32>)";
  EXPECT_EQ(compute({{"i32", {1, 0, 2, 0, 1, 1, 0, 2}}}, "i32", 1, text), Numbers{3});
  EXPECT_EQ(compute({{"i32", {1, 0, 2, 8, 1, 1, 0, 2}}}, "i32", 1, text), Numbers{8});
}

TEST(Reduce, RegionMayReturnAnArgumentOrAConstant) {
  EXPECT_EQ(compute({{"i32", sequence(8, 1)}}, "i32", 2, R"(
    %f, %c = tile.reduce %a, %a {axis = 0 : i32} : tensor<8xi32>, tensor<8xi32> -> i32, i32 {
    ^bb0(%p: i32, %p2: i32, %q: i32, %q2: i32):
      %seven = arith.constant 7 : i32
      tile.yield %p, %seven : i32, i32
    }
    %fs = tile.splat %f : i32 -> tensor<2xi32>
    %cs = tile.splat %c : i32 -> tensor<2xi32>
    %first = arith.constant dense<[true, false]> : tensor<2xi1>
    %r = arith.select %first, %fs, %cs : tensor<2xi1>, tensor<2xi32>)"),
            (Numbers{1, 7}));
}

TEST(Reduce, ErrorsInsideTheRegionAreReported) {
  std::vector<int32_t> a(4, 0);
  Launch launch(kernel("%p: !tile.ptr<i32>", R"(
    %c = arith.constant dense<[3, 0, 1, 0]> : tensor<4xi32>
    %s = tile.reduce %c {axis = 0 : i32} : tensor<4xi32> -> i32 {
    ^bb0(%x: i32, %y: i32):
      %d = arith.divsi %x, %y : i32
      tile.yield %d : i32
    })"));
  launch.buffer(a, "a");
  EXPECT_EQ(launch.message(), "kernel.tile:6:12: error: integer division by zero; in program (0, 0, 0)");
}

TEST(Map, ElementWiseRegionRunsOnWholeVectors) {
  EXPECT_EQ(compute({{"i32", sequence(4)}, {"i32", {4, 3, 2, 1}}}, "i32", 4, R"(
    %r, %s = tile.map %a, %b : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>, tensor<4xi32> {
    ^bb0(%x: i32, %y: i32):
      %two = arith.constant 2 : i32
      %m = arith.muli %x, %two : i32
      %n = arith.addi %m, %y : i32
      tile.yield %n, %x : i32, i32
    })"),
            (Numbers{4, 5, 6, 7}));
}

TEST(Map, BranchThatIsNotTakenIsNotExecuted) {
  EXPECT_EQ(compute({{"i32", {8, 9, 10, 11}}, {"i32", {2, 0, 3, 0}}}, "i32", 4, R"(
    %none = arith.constant 0 : i32
    %r = tile.map %a, %b : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32> {
    ^bb0(%x: i32, %y: i32):
      %zero = arith.cmpi eq, %y, %none : i32
      %q = scf.if %zero -> i32 {
        scf.yield %none : i32
      } else {
        %d = arith.divsi %x, %y : i32
        scf.yield %d : i32
      }
      tile.yield %q : i32
    })"),
            (Numbers{4, 0, 3, 0}));
}

TEST(Rounded, FourRoundings) {
  auto roundings = [](const std::string &text, Numbers a, Numbers b) {
    Numbers results;
    for (const std::string &rounding : {"rn", "rz", "rd", "ru"}) {
      std::string all = text;
      all.replace(all.find("ROUNDING"), 8, rounding);
      results.push_back(compute({{"f32", a}, {"f32", b}}, "f32", 1, all)[0]);
    }
    return results;
  };
  const double step = std::ldexp(1.0, -23), tiny = std::ldexp(1.0, -30);
  const std::string add = "%r = tile.rounded add ROUNDING(%a, %b) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>";
  EXPECT_EQ(roundings(add, {1}, {tiny}), (Numbers{1, 1, 1, 1 + step}));
  EXPECT_EQ(roundings(add, {-1}, {-tiny}), (Numbers{-1, -1, -1 - step, -1}));
  EXPECT_EQ(
      roundings("%r = tile.rounded div ROUNDING(%a, %b) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>", {1}, {3}),
      (Numbers{0.3333333432674408, 0.3333333134651184, 0.3333333134651184, 0.3333333432674408}));
}

TEST(Rounded, IntegersSaturate) {
  const std::string down = "%r = tile.rounded cast rd(%a) : (tensor<4xf32>) -> tensor<4xi32>";
  EXPECT_EQ(compute({{"f32", {-1.5, 2.75, 1e20, -1e20}}}, "i32", 4, down), (Numbers{-2, 2, 2147483647, -2147483648.0}));
  EXPECT_EQ(compute({{"f32", {-1.5, 2.25, 0, 0}}}, "i32", 4,
                    "%r = tile.rounded cast ru unsigned(%a) : (tensor<4xf32>) -> tensor<4xi32>"),
            (Numbers{0, 3, 0, 0}));
}

} // namespace
} // namespace tile::interp::test
