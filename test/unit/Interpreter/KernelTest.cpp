// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole kernels against closed forms, and the time of a 512 x 512 x 512 GEMM.
#include "Harness.h"

#include "Interpreter/NumberFormats.h"

#include <chrono>
#include <random>

namespace tile::interp::test {
namespace {

const char *const kVectorAdd = R"(
tile.kernel @add(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %c: !tile.ptr<f32>, %n: i32) {
  %pid = tile.program_id 0
  %size = arith.constant 64 : i32
  %start = arith.muli %pid, %size : i32
  %range = tile.arange 0 to 64 : tensor<64xi32>
  %starts = tile.splat %start : i32 -> tensor<64xi32>
  %offset = arith.addi %starts, %range : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %mask = arith.cmpi slt, %offset, %ns : tensor<64xi32>
  %as = tile.splat %a : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %ap = tile.addptr %as, %offset : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %x = tile.load %ap mask %mask : tensor<64x!tile.ptr<f32>>
  %bs = tile.splat %b : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %bp = tile.addptr %bs, %offset : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %y = tile.load %bp mask %mask : tensor<64x!tile.ptr<f32>>
  %s = arith.addf %x, %y : tensor<64xf32>
  %cs = tile.splat %c : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %cp = tile.addptr %cs, %offset : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  tile.store %cp, %s mask %mask : tensor<64x!tile.ptr<f32>>
  tile.return
})";

TEST(Kernel, VectorAddWithRaggedEnd) {
  std::vector<float> a(300), b(300), c(300, -1);
  for (int i = 0; i < 300; ++i)
    a[i] = float(i), b[i] = 0.5f * float(i);
  Launch(kVectorAdd).buffer(a, "a").buffer(b, "b").buffer(c, "c").integer(299).run({5, 1, 1});
  for (int i = 0; i < 299; ++i)
    EXPECT_EQ(c[i], 1.5f * float(i));
  EXPECT_EQ(c[299], -1); // masked out
}

const char *const kSoftmax = R"(
tile.kernel @softmax(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) {
  %row = tile.program_id 0
  %start = arith.muli %row, %n : i32
  %range = tile.arange 0 to 128 : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %range, %ns : tensor<128xi32>
  %minusInfinity = arith.constant dense<0xFF800000> : tensor<128xf32>
  %xrow = tile.addptr %x, %start : !tile.ptr<f32>, i32
  %xs = tile.splat %xrow : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %xp = tile.addptr %xs, %range : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %v = tile.load %xp mask %mask other %minusInfinity : tensor<128x!tile.ptr<f32>>
  %max = tile.reduce %v {axis = 0 : i32} : tensor<128xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maxnumf %a, %b : f32
    tile.yield %m : f32
  }
  %maxs = tile.splat %max : f32 -> tensor<128xf32>
  %d = arith.subf %v, %maxs : tensor<128xf32>
  %e = math.exp %d : tensor<128xf32>
  %sum = tile.reduce %e {axis = 0 : i32} : tensor<128xf32> -> f32 {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    tile.yield %m : f32
  }
  %sums = tile.splat %sum : f32 -> tensor<128xf32>
  %r = arith.divf %e, %sums : tensor<128xf32>
  %yrow = tile.addptr %y, %start : !tile.ptr<f32>, i32
  %ys = tile.splat %yrow : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %yp = tile.addptr %ys, %range : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  tile.store %yp, %r mask %mask : tensor<128x!tile.ptr<f32>>
  tile.return
})";

TEST(Kernel, SoftmaxOfRaggedRows) {
  constexpr int kRows = 3, kColumns = 100;
  std::vector<float> x(kRows * kColumns), y(kRows * kColumns);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(float(i));
  Launch(kSoftmax).buffer(x, "x").buffer(y, "y").integer(kColumns).run({kRows, 1, 1});
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int column = 0; column < kColumns; ++column)
      sum += std::exp(double(x[row * kColumns + column]));
    for (int column = 0; column < kColumns; ++column)
      EXPECT_NEAR(y[row * kColumns + column], std::exp(double(x[row * kColumns + column])) / sum, 1e-8);
  }
}

const char *const kMatmul = R"(
tile.kernel @matmul(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %c: !tile.ptr<f16>, %m: i32, %n: i32, %k: i32) {
  %pid0 = tile.program_id 0
  %pid1 = tile.program_id 1
  %num0 = tile.num_programs 0
  %num1 = tile.num_programs 1
  %group = arith.constant 2 : i32
  %pm, %pn = tile.swizzle2d %pid0, %pid1, %num0, %num1, %group
  %c128 = arith.constant 128 : i32
  %c64 = arith.constant 64 : i32
  %c0 = arith.constant 0 : i32
  %m0 = arith.muli %pm, %c128 : i32
  %n0 = arith.muli %pn, %c128 : i32
  %r128 = tile.arange 0 to 128 : tensor<128xi32>
  %r64 = tile.arange 0 to 64 : tensor<64xi32>
  %m0s = tile.splat %m0 : i32 -> tensor<128xi32>
  %n0s = tile.splat %n0 : i32 -> tensor<128xi32>
  %rm = arith.addi %m0s, %r128 : tensor<128xi32>
  %rn = arith.addi %n0s, %r128 : tensor<128xi32>
  %rm2 = tile.expand_dims %rm {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %rn2 = tile.expand_dims %rn {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %rkRow = tile.expand_dims %r64 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %rkColumn = tile.expand_dims %r64 {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %ks = tile.splat %k : i32 -> tensor<128x1xi32>
  %ns = tile.splat %n : i32 -> tensor<64x1xi32>
  %nsm = tile.splat %n : i32 -> tensor<128x1xi32>
  %msm = tile.splat %m : i32 -> tensor<128x1xi32>
  %nsn = tile.splat %n : i32 -> tensor<1x128xi32>
  %mInside = arith.cmpi slt, %rm2, %msm : tensor<128x1xi32>
  %nInside = arith.cmpi slt, %rn2, %nsn : tensor<1x128xi32>
  %aRow = arith.muli %rm2, %ks : tensor<128x1xi32>
  %aRowB = tile.broadcast %aRow : tensor<128x1xi32> -> tensor<128x64xi32>
  %rkRowB = tile.broadcast %rkRow : tensor<1x64xi32> -> tensor<128x64xi32>
  %aOffset = arith.addi %aRowB, %rkRowB : tensor<128x64xi32>
  %bRow = arith.muli %rkColumn, %ns : tensor<64x1xi32>
  %bRowB = tile.broadcast %bRow : tensor<64x1xi32> -> tensor<64x128xi32>
  %rnB = tile.broadcast %rn2 : tensor<1x128xi32> -> tensor<64x128xi32>
  %bOffset = arith.addi %bRowB, %rnB : tensor<64x128xi32>
  %aBase = tile.splat %a : !tile.ptr<f16> -> tensor<128x64x!tile.ptr<f16>>
  %bBase = tile.splat %b : !tile.ptr<f16> -> tensor<64x128x!tile.ptr<f16>>
  %aPtr0 = tile.addptr %aBase, %aOffset : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
  %bPtr0 = tile.addptr %bBase, %bOffset : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
  %mInsideB = tile.broadcast %mInside : tensor<128x1xi1> -> tensor<128x64xi1>
  %nInsideB = tile.broadcast %nInside : tensor<1x128xi1> -> tensor<64x128xi1>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %aStep = arith.constant dense<64> : tensor<128x64xi32>
  %bStep0 = arith.muli %n, %c64 : i32
  %bStep = tile.splat %bStep0 : i32 -> tensor<64x128xi32>
  %acc, %ap, %bp = scf.for %k0 = %c0 to %k step %c64 iter_args(%sum = %zero, %aPtr = %aPtr0, %bPtr = %bPtr0)
      -> (tensor<128x128xf32>, tensor<128x64x!tile.ptr<f16>>, tensor<64x128x!tile.ptr<f16>>) : i32 {
    %left = arith.subi %k, %k0 : i32
    %leftRow = tile.splat %left : i32 -> tensor<1x64xi32>
    %leftColumn = tile.splat %left : i32 -> tensor<64x1xi32>
    %kInA = arith.cmpi slt, %rkRow, %leftRow : tensor<1x64xi32>
    %kInB = arith.cmpi slt, %rkColumn, %leftColumn : tensor<64x1xi32>
    %kInAB = tile.broadcast %kInA : tensor<1x64xi1> -> tensor<128x64xi1>
    %kInBB = tile.broadcast %kInB : tensor<64x1xi1> -> tensor<64x128xi1>
    %aMask = arith.andi %mInsideB, %kInAB : tensor<128x64xi1>
    %bMask = arith.andi %nInsideB, %kInBB : tensor<64x128xi1>
    %av = tile.load %aPtr mask %aMask : tensor<128x64x!tile.ptr<f16>>
    %bv = tile.load %bPtr mask %bMask : tensor<64x128x!tile.ptr<f16>>
    %next = tile.dot %av, %bv, %sum : tensor<128x64xf16>, tensor<64x128xf16> -> tensor<128x128xf32>
    %aNext = tile.addptr %aPtr, %aStep : tensor<128x64x!tile.ptr<f16>>, tensor<128x64xi32>
    %bNext = tile.addptr %bPtr, %bStep : tensor<64x128x!tile.ptr<f16>>, tensor<64x128xi32>
    scf.yield %next, %aNext, %bNext
        : tensor<128x128xf32>, tensor<128x64x!tile.ptr<f16>>, tensor<64x128x!tile.ptr<f16>>
  }
  %out = arith.truncf %acc : tensor<128x128xf32> to tensor<128x128xf16>
  %cRow = arith.muli %rm2, %nsm : tensor<128x1xi32>
  %cRowB = tile.broadcast %cRow : tensor<128x1xi32> -> tensor<128x128xi32>
  %cColumnB = tile.broadcast %rn2 : tensor<1x128xi32> -> tensor<128x128xi32>
  %cOffset = arith.addi %cRowB, %cColumnB : tensor<128x128xi32>
  %cBase = tile.splat %c : !tile.ptr<f16> -> tensor<128x128x!tile.ptr<f16>>
  %cPtr = tile.addptr %cBase, %cOffset : tensor<128x128x!tile.ptr<f16>>, tensor<128x128xi32>
  %mOut = tile.broadcast %mInside : tensor<128x1xi1> -> tensor<128x128xi1>
  %nOut = tile.broadcast %nInside : tensor<1x128xi1> -> tensor<128x128xi1>
  %cMask = arith.andi %mOut, %nOut : tensor<128x128xi1>
  tile.store %cPtr, %out mask %cMask : tensor<128x128x!tile.ptr<f16>>
  tile.return
})";

/// Runs the GEMM of seeded random matrices, checks it against sums in double, and returns the seconds it took.
double checkMatmul(int m, int n, int k) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto fill = [&](size_t count) {
    std::vector<uint16_t> values(count);
    for (uint16_t &value : values)
      value = uint16_t(encode(Kind::F16, roundToFormat<kHalf>(uniform(random))));
    return values;
  };
  std::vector<uint16_t> a = fill(size_t(m) * k), b = fill(size_t(k) * n), c(size_t(m) * n);
  Launch launch(kMatmul);
  launch.buffer(a, "a").buffer(b, "b").buffer(c, "c").integer(m).integer(n).integer(k);
  auto start = std::chrono::steady_clock::now();
  launch.run({uint32_t(m + 127) / 128, uint32_t(n + 127) / 128, 1});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto at = [](const std::vector<uint16_t> &values, int index) { return double(decode(Kind::F16, values[index])); };
  for (int i = 0; i < m; i += 3)
    for (int j = 0; j < n; j += 5) {
      double sum = 0;
      for (int p = 0; p < k; ++p)
        sum += at(a, i * k + p) * at(b, p * n + j);
      EXPECT_NEAR(at(c, i * n + j), sum, 1e-3 * std::fabs(sum) + 1e-4) << i << ", " << j;
    }
  return seconds;
}

TEST(Kernel, MatmulWithRaggedEdges) {
  checkMatmul(100, 200, 300);
}
TEST(Kernel, MatmulOfOneElement) {
  checkMatmul(1, 1, 1);
}

TEST(Kernel, MatmulOf512TakesUnderTwoSeconds) {
  double seconds = checkMatmul(512, 512, 512);
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 2.0);
}

TEST(Kernel, CompilesOnceAndRunsOften) {
  Launch launch(kVectorAdd);
  std::vector<float> a(64, 1), b(64, 2), c(64);
  launch.buffer(a, "a").buffer(b, "b").buffer(c, "c").integer(64);
  Program::Result compiled = Program::compile(*launch.module->getOps<KernelOp>().begin());
  ASSERT_TRUE(compiled.program);
  for (float value : {5.0f, 6.0f}) {
    b.assign(64, value);
    EXPECT_FALSE(compiled.program->run({}, launch.arguments, launch.buffers));
    EXPECT_EQ(c[63], 1 + value);
  }
}

TEST(Kernel, EmptyGridRunsNothing) {
  std::vector<float> a(1), b(1), c(1);
  Launch(kVectorAdd).buffer(a, "a").buffer(b, "b").buffer(c, "c").integer(64).run({0, 1, 1});
}

} // namespace
} // namespace tile::interp::test
