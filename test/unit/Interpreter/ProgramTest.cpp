// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests control flow, the grid, prints and checks, and the errors of launches and kernels.
#include "Harness.h"

namespace tile::interp::test {
namespace {

/// Runs a kernel of one i32 pointer %r and two i32 scalars %n and %m, and returns the first elements of r.
std::vector<int32_t> control(const std::string &body, int32_t n, int32_t m = 0, size_t count = 1, Grid grid = {}) {
  std::vector<int32_t> r(count, -99);
  Launch(kernel("%r: !tile.ptr<i32>, %n: i32, %m: i32", body)).buffer(r, "r").integer(n).integer(m).run(grid);
  return r;
}

const std::string kConstants = "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n"
                               "%c2 = arith.constant 2 : i32\n";

TEST(Control, ForCountsAndCarries) {
  const std::string text = kConstants + R"(
    %sum = scf.for %i = %c0 to %n step %c2 iter_args(%s = %c1) -> (i32) : i32 {
      %next = arith.addi %s, %i : i32
      scf.yield %next : i32
    }
    tile.store %r, %sum : !tile.ptr<i32>)";
  EXPECT_EQ(control(text, 7)[0], 1 + 0 + 2 + 4 + 6);
  EXPECT_EQ(control(text, 0)[0], 1);
  EXPECT_EQ(control(text, -5)[0], 1);
}

/// Two CTAs run the programs of a grid of n x 2, each once; the arguments give the position of a program in the grid.
TEST(Control, ProgramsOfACta) {
  const std::string text = kConstants + R"(
    tile.programs (%i, %j, %k, %exists) in (%n, %c2, %c1) #tile.work<order = transposed> {
      %row = arith.muli %j, %n : i32
      %place = arith.addi %row, %i : i32
      %p = tile.addptr %r, %place : !tile.ptr<i32>, i32
      %before = tile.load %p : !tile.ptr<i32>
      %sum = arith.addi %before, %place : i32
      scf.if %exists {
        tile.store %p, %sum : !tile.ptr<i32>
      }
    })";
  EXPECT_EQ(control(text, 3, 0, 6, {2, 1, 1}), (std::vector<int32_t>{-99, -98, -97, -96, -95, -94}));
  EXPECT_EQ(control(text, 0, 0, 1, {2, 1, 1}), (std::vector<int32_t>{-99}));
}

TEST(Control, ForExchangesCarriedValues) {
  const std::string text = kConstants + R"(
    %a, %b = scf.for %i = %c0 to %n step %c1 iter_args(%x = %c1, %y = %c2) -> (i32, i32) : i32 {
      scf.yield %y, %x : i32, i32
    }
    tile.store %r, %a : !tile.ptr<i32>
    %p = tile.addptr %r, %c1 : !tile.ptr<i32>, i32
    tile.store %p, %b : !tile.ptr<i32>)";
  EXPECT_EQ(control(text, 3, 0, 2), (std::vector<int32_t>{2, 1}));
  EXPECT_EQ(control(text, 4, 0, 2), (std::vector<int32_t>{1, 2}));
}

TEST(Control, ForWithUnsignedBoundsAndEveryIndexType) {
  EXPECT_EQ(control(kConstants + R"(
    %minusOne = arith.constant -1 : i32
    %minusThree = arith.constant -3 : i32
    %sum = scf.for unsigned %i = %minusThree to %minusOne step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %next = arith.addi %s, %c1 : i32
      scf.yield %next : i32
    }
    tile.store %r, %sum : !tile.ptr<i32>)",
                    0)[0],
            2);
  for (const std::string &type : {"i64", "index", "i16", "i8"})
    EXPECT_EQ(control(kConstants + "%l = arith.constant 0 : " + type + "\n%u = arith.constant 5 : " + type +
                          "\n%t = arith.constant 1 : " + type + R"(
    %sum = scf.for %i = %l to %u step %t iter_args(%s = %c0) -> (i32) : )" +
                          type + R"( {
      %next = arith.addi %s, %c1 : i32
      scf.yield %next : i32
    }
    tile.store %r, %sum : !tile.ptr<i32>)",
                      0)[0],
              5)
        << type;
}

TEST(Control, ForEndsAtTheLargestNumber) {
  EXPECT_EQ(control(kConstants + R"(
    %l = arith.constant 9223372036854775806 : i64
    %u = arith.constant 9223372036854775807 : i64
    %t = arith.constant 5 : i64
    %sum = scf.for %i = %l to %u step %t iter_args(%s = %c0) -> (i32) : i64 {
      %next = arith.addi %s, %c1 : i32
      scf.yield %next : i32
    }
    tile.store %r, %sum : !tile.ptr<i32>)",
                    0)[0],
            1);
}

TEST(Control, NestedLoopsKeepTheirValuesApart) {
  EXPECT_EQ(control(kConstants + R"(
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %row = arith.muli %i, %m : i32
      %inner = scf.for %j = %c0 to %m step %c1 iter_args(%t = %s) -> (i32) : i32 {
        %x = arith.addi %row, %j : i32
        %u = arith.addi %t, %x : i32
        scf.yield %u : i32
      }
      %again = arith.addi %inner, %row : i32
      scf.yield %again : i32
    }
    tile.store %r, %sum : !tile.ptr<i32>)",
                    3, 4)[0],
            66 + 0 + 4 + 8);
}

TEST(Control, IfWithAndWithoutResults) {
  const std::string text = kConstants + R"(
    %positive = arith.cmpi sgt, %n, %c0 : i32
    %x = scf.if %positive -> (i32) {
      %y = arith.addi %n, %n : i32
      scf.yield %y : i32
    } else {
      scf.yield %c2 : i32
    }
    tile.store %r, %x : !tile.ptr<i32>
    %p = tile.addptr %r, %c1 : !tile.ptr<i32>, i32
    scf.if %positive {
      tile.store %p, %n : !tile.ptr<i32>
    })";
  EXPECT_EQ(control(text, 5, 0, 2), (std::vector<int32_t>{10, 5}));
  EXPECT_EQ(control(text, -5, 0, 2), (std::vector<int32_t>{2, -99}));
}

TEST(Control, WhileRunsUntilItsConditionFails) {
  // Counts the Collatz steps from n to 1.
  const std::string text = kConstants + R"(
    %three = arith.constant 3 : i32
    %steps, %last = scf.while (%count = %c0, %x = %n) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %x, %c1 : i32
      scf.condition(%go) %count, %x : i32, i32
    } do {
    ^bb0(%count: i32, %x: i32):
      %odd = arith.andi %x, %c1 : i32
      %isOdd = arith.cmpi eq, %odd, %c1 : i32
      %half = arith.divsi %x, %c2 : i32
      %triple = arith.muli %x, %three : i32
      %up = arith.addi %triple, %c1 : i32
      %next = arith.select %isOdd, %up, %half : i32
      %more = arith.addi %count, %c1 : i32
      scf.yield %more, %next : i32, i32
    }
    tile.store %r, %steps : !tile.ptr<i32>)";
  EXPECT_EQ(control(text, 6)[0], 8);
  EXPECT_EQ(control(text, 1)[0], 0);
}

TEST(Grid, ProgramsSeeTheirPlace) {
  std::vector<int32_t> r = control(kConstants + R"(
    %x = tile.program_id 0
    %y = tile.program_id 1
    %z = tile.program_id 2
    %nx = tile.num_programs 0
    %ny = tile.num_programs 1
    %nz = tile.num_programs 2
    %zy = arith.muli %z, %ny : i32
    %zy2 = arith.addi %zy, %y : i32
    %zyx = arith.muli %zy2, %nx : i32
    %at = arith.addi %zyx, %x : i32
    %p = tile.addptr %r, %at : !tile.ptr<i32>, i32
    %v = arith.addi %at, %nz : i32
    tile.store %p, %v : !tile.ptr<i32>)",
                                   0, 0, 24, {2, 3, 4});
  for (int i = 0; i < 24; ++i)
    EXPECT_EQ(r[i], i + 4);
}

TEST(Grid, SwizzleFollowsItsFormula) {
  constexpr int kRows = 5, kColumns = 3, kGroup = 2;
  std::vector<int32_t> r = control(R"(
    %i = tile.program_id 0
    %j = tile.program_id 1
    %si = tile.num_programs 0
    %sj = tile.num_programs 1
    %i2, %j2 = tile.swizzle2d %i, %j, %si, %sj, %n
    %row = arith.muli %i, %sj : i32
    %at = arith.addi %row, %j : i32
    %p = tile.addptr %r, %at : !tile.ptr<i32>, i32
    %h = arith.muli %i2, %m : i32
    %v = arith.addi %h, %j2 : i32
    tile.store %p, %v : !tile.ptr<i32>)",
                                   kGroup, 100, kRows * kColumns, {kRows, kColumns, 1});
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      int ij = i * kColumns + j, group = ij / (kGroup * kColumns), off = group * kGroup;
      int g = std::min(kRows - off, kGroup);
      ij %= kGroup * kColumns;
      EXPECT_EQ(r[i * kColumns + j], (off + ij % g) * 100 + ij / g) << i << ", " << j;
    }
}

std::string messageOf(const std::string &body, int32_t n, Grid grid = {}) {
  std::vector<int32_t> r(4);
  return Launch(kernel("%r: !tile.ptr<i32>, %n: i32", body)).buffer(r, "r").integer(n).message(grid);
}

TEST(Errors, DivisionByZeroNamesTheElement) {
  for (const char *op : {"divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui"})
    EXPECT_EQ(messageOf("%c = arith.constant dense<[[1, 2], [0, 3]]> : tensor<2x2xi32>\n%d = arith." + std::string(op) +
                            " %c, %c : tensor<2x2xi32>",
                        0),
              "kernel.tile:3:6: error: integer division by zero; in program (0, 0, 0), element [1, 0]");
}

TEST(Errors, AssertionNamesItsMessageAndElement) {
  const std::string text = "%i = tile.arange 0 to 4 : tensor<4xi32>\n%ns = tile.splat %n : i32 -> tensor<4xi32>\n"
                           "%ok = arith.cmpi slt, %i, %ns : tensor<4xi32>\n"
                           "tile.assert %ok, \"index in range\" : tensor<4xi1>";
  EXPECT_EQ(messageOf(text, 4), "no error");
  EXPECT_EQ(messageOf(text, 2),
            "kernel.tile:5:1: error: assertion failed: index in range; in program (0, 0, 0), element [2]");
}

TEST(Errors, AssumptionThatDoesNotHold) {
  const std::string text = "%pid = tile.program_id 0\n%ok = arith.cmpi slt, %pid, %n : i32\ntile.assume %ok";
  EXPECT_EQ(messageOf(text, 3, {3, 1, 1}), "no error");
  EXPECT_EQ(messageOf(text, 2, {3, 1, 1}),
            "kernel.tile:4:1: error: an assumption of the kernel does not hold; in program (2, 0, 0)");
}

TEST(Errors, ProgramsWhoseStepsAreShared) {
  const std::string text = "tile.programs (%i, %j, %k, %exists, %first) in (%n, %n, %n) "
                           "#tile.work<order = grid, split_k = 2> {\n}";
  EXPECT_EQ(messageOf(text, 1),
            "kernel.tile:2:1: error: the CTAs of a cluster split K, which the interpreter does not support");
}

TEST(Errors, LoopStepThatIsNotPositive) {
  const std::string text = "%c0 = arith.constant 0 : i32\nscf.for %i = %c0 to %n step %n : i32 {\n}";
  EXPECT_EQ(messageOf(text, 2), "no error");
  EXPECT_EQ(messageOf(text, 0),
            "kernel.tile:3:1: error: the loop's step is 0; it must be positive; in program (0, 0, 0)");
  EXPECT_EQ(messageOf(text, -2),
            "kernel.tile:3:1: error: the loop's step is -2; it must be positive; in program (0, 0, 0)");
}

TEST(Errors, SwizzleOutsideItsSpace) {
  EXPECT_EQ(messageOf("%c4 = arith.constant 4 : i32\n%i, %j = tile.swizzle2d %n, %n, %c4, %c4, %c4", 4),
            "kernel.tile:3:10: error: swizzle2d of (4, 4) in a grid of 4 x 4 in groups of 4; the index must be inside "
            "the grid and the group size positive; in program (0, 0, 0)");
}

TEST(Errors, UnsupportedOperationsAndTypes) {
  EXPECT_EQ(messageOf("%c = arith.constant dense<1.0> : vector<4xf32>", 0),
            "kernel.tile:2:6: error: 'arith.constant' has type vector<4xf32>, which the interpreter does not support");
  EXPECT_EQ(messageOf("%c = arith.constant 1 : i7", 0),
            "kernel.tile:2:6: error: 'arith.constant' has type i7, which the interpreter does not support");
  EXPECT_EQ(messageOf("%x = arith.constant 1.0 : f32\n%s, %c = math.sincos %x : f32", 0),
            "kernel.tile:3:10: error: the interpreter does not support 'math.sincos'");
  EXPECT_EQ(messageOf("%x = arith.constant dense<1.0> : tensor<4xf32, 7 : i32>", 0),
            "kernel.tile:2:6: error: 'arith.constant' has a tensor with a layout; the interpreter runs kernels before "
            "layouts are assigned");
}

TEST(Errors, KernelsThatCannotRun) {
  EXPECT_EQ(Launch(kernel("%n: i7", "")).integer(1).message(),
            "kernel.tile:1:1: error: argument 0 has type i7, which the interpreter does not support");
}

TEST(Errors, ArgumentsOfALaunch) {
  std::vector<int32_t> r(4);
  const std::string text =
      kernel("%r: !tile.ptr<i32> {tile.name = \"out\"}, %n: i32 {tile.name = \"n\", tile.divisibility = 16 : i32}", "");
  EXPECT_EQ(Launch(text).buffer(r, "r").message(),
            "kernel.tile:1:1: error: the launch has 1 arguments but kernel 'k' takes 2");
  EXPECT_EQ(Launch(text).buffer(r, "r").buffer(r, "r").message(),
            "kernel.tile:1:1: error: argument 'n' is a pointer but the kernel takes i32");
  EXPECT_EQ(Launch(text).integer(1).integer(1).message(),
            "kernel.tile:1:1: error: argument 'out' is a scalar but the kernel takes !tile.ptr<i32>");
  EXPECT_EQ(Launch(text).scalar(Argument::pointer(3)).integer(16).message(),
            "kernel.tile:1:1: error: argument 'out' refers to buffer 3 but the launch has 0");
  EXPECT_EQ(Launch(text).buffer(r, "r").integer(40).message(),
            "kernel.tile:1:1: error: argument 'n' is 40 but the kernel was compiled for multiples of 16");
  EXPECT_EQ(Launch(text).buffer(r, "r").integer(-32).message(), "no error");
}

TEST(Errors, TensorsThatAreTooLarge) {
  EXPECT_EQ(messageOf("%c = arith.constant dense<1.0> : tensor<4611686018427387904x4xf64>", 0),
            "kernel.tile:2:6: error: 'arith.constant' has type tensor<4611686018427387904x4xf64>; the interpreter "
            "supports at most 16777216 elements");
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += "%c" + std::to_string(i) + " = arith.constant dense<" + std::to_string(i) + "> : tensor<16777216xi64>\n";
  EXPECT_EQ(messageOf(text, 0),
            "kernel.tile:1:1: error: kernel 'k' holds 5368709248 bytes of tensors at once; the limit "
            "of the interpreter is 4294967296");
}

TEST(Errors, CallSitesNameTheInnermostLineAndTheCalls) {
  std::vector<int32_t> r(1);
  Launch launch(kernel("%r: !tile.ptr<i32>", R"(
    %c1 = arith.constant 1 : i32
    %p = tile.addptr %r, %c1 : !tile.ptr<i32>, i32
    %x = tile.load %p : !tile.ptr<i32> loc(callsite("helper.tile":7:9 at "main.tile":3:1)))"));
  EXPECT_EQ(launch.buffer(r, "r").message(),
            "helper.tile:7:9: error: load reads element 1 of buffer 'r', which has 1 elements of i32 (4 bytes); "
            "in program (0, 0, 0); called at main.tile:3:1");
}

TEST(Arguments, ScalarsOfEveryType) {
  const std::pair<const char *, Argument> cases[] = {
      {"i8", Argument::integer(-3)},       {"i16", Argument::integer(-3)},    {"i32", Argument::integer(-3)},
      {"i64", Argument::integer(-3)},      {"f16", Argument::bitsOf(0xc200)}, {"bf16", Argument::bitsOf(0xc040)},
      {"f32", Argument::f32(-3)},          {"f64", Argument::f64(-3)},        {"f8E5M2", Argument::bitsOf(0xc2)},
      {"f8E4M3FN", Argument::bitsOf(0xc4)}};
  for (const auto &[name, argument] : cases) {
    std::string type = name;
    std::vector<char> r(bytesInMemory(kindNamed(type)));
    Launch(kernel("%r: !tile.ptr<" + type + ">, %x: " + type, "tile.store %r, %x : !tile.ptr<" + type + ">"))
        .buffer(r, "r")
        .scalar(argument)
        .run();
    EXPECT_EQ(fromMemory(type, r), std::vector<double>{-3}) << type;
  }
}

TEST(Print, OneLineForEachElement) {
  std::vector<float> r(1);
  Launch launch(kernel("%r: !tile.ptr<f32>, %n: i32", R"(
    %x = arith.constant dense<[[1.5, 2.0], [-0.1, 4.0]]> : tensor<2x2xf32>
    %y = arith.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
    tile.print "x = " %x, %y, %n : tensor<2x2xf32>, tensor<2x2xi1>, i32
    tile.print "n = " hex %n : i32
    tile.print "at " %r : !tile.ptr<f32>
    tile.print "here")"));
  launch.buffer(r, "r").integer(-2).run();
  EXPECT_EQ(launch.printed, "pid (0, 0, 0) idx (0, 0) x = 1.5, 1, -2\n"
                            "pid (0, 0, 0) idx (0, 1) x = 2, 0, -2\n"
                            "pid (0, 0, 0) idx (1, 0) x = -0.100000001, 1, -2\n"
                            "pid (0, 0, 0) idx (1, 1) x = 4, 1, -2\n"
                            "pid (0, 0, 0) idx () n = 0xfffffffe\n"
                            "pid (0, 0, 0) idx () at 'r' + 0\n"
                            "pid (0, 0, 0) idx () here\n");
}

} // namespace
} // namespace tile::interp::test
