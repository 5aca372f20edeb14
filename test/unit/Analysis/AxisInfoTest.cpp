// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rules of AxisInfo: each kernel prints the values whose facts are checked.
#include "Analysis/Addresses/AxisInfo.h"
#include "Cta/CtaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;

namespace {

class AxisInfoTest : public testing::Test {
protected:
  AxisInfoTest() { context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect, scf::SCFDialect>(); }

  /// Returns the facts of every `tile.print "name" %value` in `body`, by name. %n and %i are arbitrary i32, %m is a
  /// multiple of 16, %p a pointer to f16 aligned to 32 bytes.
  std::map<std::string, std::string> analyze(StringRef body) {
    std::string text = R"(tile.kernel @k(%p: !tile.ptr<f16> {tile.divisibility = 32 : i32}, %n: i32, %i: i32,
                                         %m: i32 {tile.divisibility = 48 : i32}, %c: i1,
                                         %table: !tile.ptr<i32>) {
      %pid = tile.program_id 0
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %c8 = arith.constant 8 : i32
      %c64 = arith.constant 64 : i32
      %r = tile.arange 0 to 64 : tensor<64xi32>
      %s3 = arith.constant dense<3> : tensor<64xi32>
      %s8 = arith.constant dense<8> : tensor<64xi32>
      %sn = tile.splat %n : i32 -> tensor<64xi32>
      %sm = tile.splat %m : i32 -> tensor<64xi32>
    )" + body.str() + "\n tile.return }";
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    std::map<std::string, std::string> facts;
    if (!module) {
      ADD_FAILURE() << "the kernel does not parse";
      return facts;
    }
    AxisInfoAnalysis analysis(*module->getOps<KernelOp>().begin());
    module->walk([&](PrintOp print) {
      llvm::raw_string_ostream os(facts[print.getPrefix().str()]);
      analysis.get(print.getArgs().front()).print(os);
    });
    return facts;
  }

  MLIRContext context;
};

#define EXPECT_FACTS(facts, name, expected) EXPECT_EQ((facts)[name], expected)

TEST_F(AxisInfoTest, Sources) {
  auto facts = analyze(R"(
    %a = tile.arange 16 to 48 : tensor<32xi32>
    %f = arith.constant dense<1.0> : tensor<64xf32>
    tile.print "arange" %a : tensor<32xi32>
    tile.print "argument" %m : i32
    tile.print "plain" %n : i32
    tile.print "pid" %pid : i32
    tile.print "constant" %c8 : i32
    tile.print "float" %f : tensor<64xf32>
    tile.print "pointer" %p : !tile.ptr<f16>
  )");
  EXPECT_FACTS(facts, "arange", "contiguity = [32], divisibility = [16], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "argument", "contiguity = [1], divisibility = [16], constancy = [1]");
  EXPECT_FACTS(facts, "plain", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "pid", "contiguity = [1], divisibility = [1], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "constant", "contiguity = [1], divisibility = [8], constancy = [1], constant = 8, nonnegative");
  EXPECT_FACTS(facts, "float", "contiguity = [1], divisibility = [1], constancy = [64]");
  EXPECT_FACTS(facts, "pointer", "contiguity = [1], divisibility = [32], constancy = [1]");
}

TEST_F(AxisInfoTest, SumsAndProducts) {
  auto facts = analyze(R"(
    %a = arith.addi %r, %sm : tensor<64xi32>
    %b = arith.addi %sn, %r : tensor<64xi32>
    %d = arith.subi %r, %sm : tensor<64xi32>
    %e = arith.subi %sm, %r : tensor<64xi32>
    %f = arith.muli %r, %s8 : tensor<64xi32>
    %one = arith.constant dense<1> : tensor<64xi32>
    %g = arith.muli %r, %one : tensor<64xi32>
    %h = arith.muli %m, %c8 : i32
    %i0 = arith.addi %c3, %c8 : i32
    tile.print "counts" %a : tensor<64xi32>
    tile.print "unaligned" %b : tensor<64xi32>
    tile.print "difference" %d : tensor<64xi32>
    tile.print "reversed" %e : tensor<64xi32>
    tile.print "product" %f : tensor<64xi32>
    tile.print "unit" %g : tensor<64xi32>
    tile.print "scalar" %h : i32
    tile.print "folded" %i0 : i32
  )");
  EXPECT_FACTS(facts, "counts", "contiguity = [64], divisibility = [16], constancy = [1]");
  EXPECT_FACTS(facts, "unaligned", "contiguity = [64], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "difference", "contiguity = [64], divisibility = [16], constancy = [1]");
  EXPECT_FACTS(facts, "reversed", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "product", "contiguity = [1], divisibility = [8], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "unit", "contiguity = [64], divisibility = [4611686018427387904], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "scalar", "contiguity = [1], divisibility = [128], constancy = [1]");
  EXPECT_FACTS(facts, "folded", "contiguity = [1], divisibility = [1], constancy = [1], constant = 11, nonnegative");
}

TEST_F(AxisInfoTest, QuotientsAndRemainders) {
  auto facts = analyze(R"(
    %a = arith.divsi %r, %s8 : tensor<64xi32>
    %b = arith.remsi %r, %s8 : tensor<64xi32>
    %d = arith.remsi %r, %sm : tensor<64xi32>
    %e = arith.divsi %r, %s3 : tensor<64xi32>
    %x = arith.addi %r, %sm : tensor<64xi32>
    %f = arith.divsi %x, %s8 : tensor<64xi32>
    %g = arith.divui %x, %s8 : tensor<64xi32>
    %h = arith.remsi %x, %s8 : tensor<64xi32>
    %k = arith.shrsi %x, %s3 : tensor<64xi32>
    %l = arith.divsi %pid, %n : i32
    tile.print "div" %a : tensor<64xi32>
    tile.print "rem" %b : tensor<64xi32>
    tile.print "remByArgument" %d : tensor<64xi32>
    tile.print "odd" %e : tensor<64xi32>
    tile.print "maybeNegative" %f : tensor<64xi32>
    tile.print "unsigned" %g : tensor<64xi32>
    tile.print "remMaybeNegative" %h : tensor<64xi32>
    tile.print "shift" %k : tensor<64xi32>
    tile.print "pid" %l : i32
  )");
  EXPECT_FACTS(facts, "div", "contiguity = [1], divisibility = [1], constancy = [8], nonnegative");
  EXPECT_FACTS(facts, "rem", "contiguity = [8], divisibility = [8], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "remByArgument", "contiguity = [16], divisibility = [16], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "odd", "contiguity = [1], divisibility = [1], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "maybeNegative", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "unsigned", "contiguity = [1], divisibility = [1], constancy = [8], nonnegative");
  EXPECT_FACTS(facts, "remMaybeNegative", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "shift", "contiguity = [1], divisibility = [1], constancy = [8]");
  EXPECT_FACTS(facts, "pid", "contiguity = [1], divisibility = [1], constancy = [1], nonnegative offset");
}

/// An index that may wrap around is only a non-negative offset by assumption, because an access before the buffer is an
/// error.
TEST_F(AxisInfoTest, Ranges) {
  auto facts = analyze(R"(
    %x = tile.load %table : !tile.ptr<i32>
    %c24 = arith.constant 24 : i32
    %c30 = arith.constant 30 : i32
    %large = arith.constant 1000000000 : i32
    %odd = arith.constant 48271 : i32
    %byte = arith.trunci %x : i32 to i8
    %b = arith.extui %byte : i8 to i32
    %high = arith.shli %b, %c24 : i32
    %low = arith.shli %b, %c8 : i32
    %square = arith.muli %b, %b : i32
    %fourth = arith.muli %square, %square : i32
    %offset = arith.muli %pid, %c64 : i32
    %hash = arith.muli %pid, %odd : i32
    %three = arith.andi %x, %c3 : i32
    %top = arith.shli %three, %c30 : i32
    %q = arith.divsi %c64, %x : i32
    %sub = arith.subi %b, %c64 : i32
    %rem = arith.remsi %sub, %c8 : i32
    %sum = arith.addi %rem, %c8 : i32
    scf.for %k = %c0 to %c8 step %c1 : i32 {
      %far = arith.muli %k, %large : i32
      %near = arith.muli %k, %odd : i32
      tile.print "far" %far : i32
      tile.print "near" %near : i32
    }
    tile.print "high" %high : i32
    tile.print "low" %low : i32
    tile.print "square" %square : i32
    tile.print "fourth" %fourth : i32
    tile.print "offset" %offset : i32
    tile.print "hash" %hash : i32
    tile.print "top" %top : i32
    tile.print "quotient" %q : i32
    tile.print "sum" %sum : i32
  )");
  auto isProven = [&](StringRef name) { return StringRef(facts[name.str()]).ends_with(", nonnegative"); };
  for (StringRef name : {"low", "square", "offset", "near", "sum"})
    EXPECT_TRUE(isProven(name)) << name.str();
  for (StringRef name : {"high", "fourth", "hash", "top", "quotient", "far"})
    EXPECT_FALSE(isProven(name)) << name.str();
}

TEST_F(AxisInfoTest, Bits) {
  auto facts = analyze(R"(
    %s7 = arith.constant dense<7> : tensor<64xi32>
    %high = arith.constant dense<-16> : tensor<64xi32>
    %a = arith.andi %s7, %r : tensor<64xi32>
    %b = arith.andi %r, %high : tensor<64xi32>
    %d = arith.ori %r, %sm : tensor<64xi32>
    %e = arith.xori %sn, %r : tensor<64xi32>
    %f = arith.shli %r, %s3 : tensor<64xi32>
    tile.print "low" %a : tensor<64xi32>
    tile.print "high" %b : tensor<64xi32>
    tile.print "or" %d : tensor<64xi32>
    tile.print "xor" %e : tensor<64xi32>
    tile.print "shift" %f : tensor<64xi32>
  )");
  EXPECT_FACTS(facts, "low", "contiguity = [8], divisibility = [8], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "high", "contiguity = [1], divisibility = [16], constancy = [16], nonnegative");
  EXPECT_FACTS(facts, "or", "contiguity = [16], divisibility = [16], constancy = [1]");
  EXPECT_FACTS(facts, "xor", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "shift", "contiguity = [1], divisibility = [8], constancy = [1], nonnegative");
}

TEST_F(AxisInfoTest, MasksAndSelections) {
  auto facts = analyze(R"(
    %a = arith.cmpi slt, %r, %sm : tensor<64xi32>
    %b = arith.cmpi sgt, %sm, %r : tensor<64xi32>
    %d = arith.cmpi sle, %r, %sm : tensor<64xi32>
    %e = arith.cmpi slt, %r, %sn : tensor<64xi32>
    %f = arith.cmpi slt, %sn, %sm : tensor<64xi32>
    %g = arith.andi %a, %f : tensor<64xi1>
    %h = arith.select %a, %r, %sn : tensor<64xi1>, tensor<64xi32>
    %z = arith.constant dense<0> : tensor<64xi32>
    %x = arith.addi %r, %sm : tensor<64xi32>
    %j = arith.select %a, %r, %x : tensor<64xi1>, tensor<64xi32>
    %k = arith.select %c, %r, %x : tensor<64xi32>
    %min = arith.minsi %m, %c8 : i32
    tile.print "below" %a : tensor<64xi1>
    tile.print "above" %b : tensor<64xi1>
    tile.print "notAbove" %d : tensor<64xi1>
    tile.print "unaligned" %e : tensor<64xi1>
    tile.print "uniform" %f : tensor<64xi1>
    tile.print "and" %g : tensor<64xi1>
    tile.print "select" %h : tensor<64xi32>
    tile.print "selectCounting" %j : tensor<64xi32>
    tile.print "selectScalar" %k : tensor<64xi32>
    tile.print "min" %min : i32
  )");
  EXPECT_FACTS(facts, "below", "contiguity = [1], divisibility = [1], constancy = [16]");
  EXPECT_FACTS(facts, "above", "contiguity = [1], divisibility = [1], constancy = [16]");
  EXPECT_FACTS(facts, "notAbove", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "unaligned", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "uniform", "contiguity = [1], divisibility = [1], constancy = [64]");
  EXPECT_FACTS(facts, "and", "contiguity = [1], divisibility = [1], constancy = [16]");
  EXPECT_FACTS(facts, "select", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "selectCounting", "contiguity = [16], divisibility = [16], constancy = [1]");
  EXPECT_FACTS(facts, "selectScalar", "contiguity = [64], divisibility = [16], constancy = [1]");
  EXPECT_FACTS(facts, "min", "contiguity = [1], divisibility = [8], constancy = [1]");
}

TEST_F(AxisInfoTest, Shapes) {
  auto facts = analyze(R"(
    %row = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %full = tile.broadcast %row : tensor<1x64xi32> -> tensor<8x64xi32>
    %t = tile.trans %full {order = array<i32: 1, 0>} : tensor<8x64xi32> -> tensor<64x8xi32>
    %q = tile.reshape %r : tensor<64xi32> -> tensor<4x16xi32>
    %div = arith.divsi %r, %s8 : tensor<64xi32>
    %u = tile.reshape %div : tensor<64xi32> -> tensor<32x2xi32>
    %e = arith.extsi %r : tensor<64xi32> to tensor<64xi64>
    %n8 = arith.trunci %r : tensor<64xi32> to tensor<64xi8>
    tile.print "row" %row : tensor<1x64xi32>
    tile.print "broadcast" %full : tensor<8x64xi32>
    tile.print "trans" %t : tensor<64x8xi32>
    tile.print "reshape" %q : tensor<4x16xi32>
    tile.print "reshapeConstancy" %u : tensor<32x2xi32>
    tile.print "extend" %e : tensor<64xi64>
    tile.print "truncate" %n8 : tensor<64xi8>
  )");
  EXPECT_FACTS(facts, "row",
               "contiguity = [1, 64], divisibility = [1, 4611686018427387904], constancy = [1, 1], nonnegative");
  EXPECT_FACTS(facts, "broadcast",
               "contiguity = [1, 64], divisibility = [1, 4611686018427387904], constancy = [8, 1], nonnegative");
  EXPECT_FACTS(facts, "trans",
               "contiguity = [64, 1], divisibility = [4611686018427387904, 1], constancy = [1, 8], nonnegative");
  EXPECT_FACTS(facts, "reshape", "contiguity = [1, 16], divisibility = [1, 16], constancy = [1, 1], nonnegative");
  EXPECT_FACTS(facts, "reshapeConstancy",
               "contiguity = [1, 1], divisibility = [1, 1], constancy = [4, 2], nonnegative");
  EXPECT_FACTS(facts, "extend",
               "contiguity = [64], divisibility = [4611686018427387904], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "truncate",
               "contiguity = [64], divisibility = [4611686018427387904], constancy = [1], nonnegative");
}

TEST_F(AxisInfoTest, Pointers) {
  auto facts = analyze(R"(
    %sp = tile.splat %p : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %a = tile.addptr %sp, %r : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %b = tile.addptr %a, %sm : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %d = tile.addptr %a, %s3 : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %e = tile.addptr %p, %m : !tile.ptr<f16>, i32
    %f = tile.addptr %p, %c8 : !tile.ptr<f16>, i32
    tile.print "base" %a : tensor<64x!tile.ptr<f16>>
    tile.print "aligned" %b : tensor<64x!tile.ptr<f16>>
    tile.print "odd" %d : tensor<64x!tile.ptr<f16>>
    tile.print "scalar" %e : !tile.ptr<f16>
    tile.print "constant" %f : !tile.ptr<f16>
  )");
  EXPECT_FACTS(facts, "base", "contiguity = [64], divisibility = [32], constancy = [1]");
  EXPECT_FACTS(facts, "aligned", "contiguity = [64], divisibility = [32], constancy = [1]");
  EXPECT_FACTS(facts, "odd", "contiguity = [64], divisibility = [2], constancy = [1]");
  EXPECT_FACTS(facts, "scalar", "contiguity = [1], divisibility = [32], constancy = [1]");
  EXPECT_FACTS(facts, "constant", "contiguity = [1], divisibility = [16], constancy = [1]");
}

TEST_F(AxisInfoTest, Loops) {
  auto facts = analyze(R"(
    %sp = tile.splat %p : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %start = tile.addptr %sp, %r : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %end = scf.for %k = %c0 to %n step %c64 iter_args(%q = %start) -> (tensor<64x!tile.ptr<f16>>) : i32 {
      %next = tile.addptr %q, %s8 : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
      tile.print "variable" %k : i32
      tile.print "carried" %q : tensor<64x!tile.ptr<f16>>
      scf.yield %next : tensor<64x!tile.ptr<f16>>
    }
    scf.for %k2 = %c64 to %n step %c8 : i32 {
      tile.print "alone" %k2 : i32
    }
    tile.print "result" %end : tensor<64x!tile.ptr<f16>>
    %either = scf.if %c -> (i32) { scf.yield %m : i32 } else { scf.yield %c8 : i32 }
    tile.print "if" %either : i32
    %w = scf.while (%x = %m) : (i32) -> i32 {
      %t = arith.cmpi slt, %x, %n : i32
      scf.condition(%t) %x : i32
    } do {
    ^bb0(%y: i32):
      %z = arith.addi %y, %c8 : i32
      scf.yield %z : i32
    }
    tile.print "while" %w : i32
  )");
  EXPECT_FACTS(facts, "variable", "contiguity = [1], divisibility = [64], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "alone", "contiguity = [1], divisibility = [8], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "carried", "contiguity = [64], divisibility = [16], constancy = [1]");
  EXPECT_FACTS(facts, "result", "contiguity = [64], divisibility = [16], constancy = [1]");
  EXPECT_FACTS(facts, "if", "contiguity = [1], divisibility = [8], constancy = [1]");
  EXPECT_FACTS(facts, "while", "contiguity = [1], divisibility = [8], constancy = [1]");
}

/// The program order of Triton's matrix multiplication: the columns of B stay vectorizable.
TEST_F(AxisInfoTest, GroupedOrder) {
  auto facts = analyze(R"(
    %inGroup = arith.muli %c8, %n : i32
    %group = arith.divsi %pid, %inGroup : i32
    %first = arith.muli %group, %c8 : i32
    %left = arith.subi %i, %first : i32
    %size = arith.minsi %left, %c8 : i32
    %local = arith.remsi %pid, %inGroup : i32
    %pidN = arith.divsi %local, %size : i32
    %base = arith.muli %pidN, %c64 : i32
    %sb = tile.splat %base : i32 -> tensor<64xi32>
    %offs = arith.addi %sb, %r : tensor<64xi32>
    %cols = arith.remsi %offs, %sm : tensor<64xi32>
    tile.print "cols" %cols : tensor<64xi32>
    %i2, %j2 = tile.swizzle2d %i, %pid, %n, %n, %c8
    tile.print "swizzle" %j2 : i32
  )");
  EXPECT_FACTS(facts, "cols", "contiguity = [16], divisibility = [16], constancy = [1], nonnegative offset");
  EXPECT_FACTS(facts, "swizzle", "contiguity = [1], divisibility = [1], constancy = [1], nonnegative");
}

TEST_F(AxisInfoTest, Hints) {
  auto facts = analyze(R"(
    %h = tile.hint %n divisibility [24] : i32
    tile.print "scalar" %h : i32
    %less = tile.hint %m divisibility [2] : i32
    tile.print "less" %less : i32
    %u = arith.muli %r, %sn : tensor<64xi32>
    %g = tile.hint %u divisibility [64] contiguity [64] : tensor<64xi32>
    tile.print "group" %g : tensor<64xi32>
    %e = tile.hint %u constancy [4] : tensor<64xi32>
    tile.print "same" %e : tensor<64xi32>
    %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %i1 = arith.addi %u, %sn : tensor<64xi32>
    %rows = tile.addptr %ps, %i1 : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %rows2 = tile.expand_dims %rows {axis = 1 : i32} : tensor<64x!tile.ptr<f16>> -> tensor<64x1x!tile.ptr<f16>>
    %all = tile.broadcast %rows2 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %r2 = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %cols = tile.broadcast %r2 : tensor<1x64xi32> -> tensor<64x64xi32>
    %block = tile.addptr %all, %cols : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %known = tile.hint %block divisibility [16, 16] : tensor<64x64x!tile.ptr<f16>>
    tile.print "block" %known : tensor<64x64x!tile.ptr<f16>>
  )");
  EXPECT_FACTS(facts, "scalar", "contiguity = [1], divisibility = [8], constancy = [1]");
  EXPECT_FACTS(facts, "less", "contiguity = [1], divisibility = [16], constancy = [1]");
  // Alignment beyond the widest access is not assumed.
  EXPECT_FACTS(facts, "group", "contiguity = [16], divisibility = [64], constancy = [1]");
  EXPECT_FACTS(facts, "same", "contiguity = [1], divisibility = [1], constancy = [4]");
  // Only the first elements of rows are multiples, not all elements of the first rows.
  EXPECT_FACTS(facts, "block", "contiguity = [1, 64], divisibility = [2, 16], constancy = [1, 1]");
}

TEST_F(AxisInfoTest, AddressCasts) {
  auto facts = analyze(R"(
    %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>
    %q = tile.addptr %ps, %r : tensor<64x!tile.ptr<f16>>, tensor<64xi32>
    %same = tile.address_cast %q : tensor<64x!tile.ptr<f16>> -> tensor<64x!tile.ptr<bf16>>
    tile.print "same" %same : tensor<64x!tile.ptr<bf16>>
    %wide = tile.address_cast %q : tensor<64x!tile.ptr<f16>> -> tensor<64x!tile.ptr<f32>>
    tile.print "wide" %wide : tensor<64x!tile.ptr<f32>>
    %base = tile.address_cast %p : !tile.ptr<f16> -> !tile.ptr<f32>
    %bases = tile.splat %base : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
    %row = tile.addptr %bases, %r : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
    tile.print "row" %row : tensor<64x!tile.ptr<f32>>
    %number = tile.address_cast %p : !tile.ptr<f16> -> i64
    %back = tile.address_cast %number : i64 -> !tile.ptr<i8>
    tile.print "back" %back : !tile.ptr<i8>
  )");
  EXPECT_FACTS(facts, "same", "contiguity = [64], divisibility = [32], constancy = [1]");
  EXPECT_FACTS(facts, "wide", "contiguity = [1], divisibility = [2], constancy = [1]");
  EXPECT_FACTS(facts, "row", "contiguity = [64], divisibility = [32], constancy = [1]");
  EXPECT_FACTS(facts, "back", "contiguity = [1], divisibility = [32], constancy = [1]");
}

TEST_F(AxisInfoTest, Assumptions) {
  auto facts = analyze(R"(
    %c24 = arith.constant 24 : i32
    %rem = arith.remsi %n, %c24 : i32
    %even = arith.cmpi eq, %rem, %c0 : i32
    %x = tile.load %table : !tile.ptr<i32>
    %some = arith.cmpi sgt, %x, %c3 : i32
    %both = arith.andi %even, %some : i1
    tile.assume %both
    tile.print "argument" %n : i32
    tile.print "loaded" %x : i32
    %least = arith.constant -1 : i32
    %below = arith.cmpi sge, %i, %least : i32
    tile.assume %below
    tile.print "negative" %i : i32
    %y = tile.load %table : !tile.ptr<i32>
    scf.if %c {
      %z = arith.cmpi sge, %y, %c0 : i32
      tile.assume %z
    }
    tile.print "elsewhere" %y : i32
  )");
  EXPECT_FACTS(facts, "argument", "contiguity = [1], divisibility = [8], constancy = [1]");
  EXPECT_FACTS(facts, "loaded", "contiguity = [1], divisibility = [1], constancy = [1], nonnegative");
  EXPECT_FACTS(facts, "negative", "contiguity = [1], divisibility = [1], constancy = [1]");
  EXPECT_FACTS(facts, "elsewhere", "contiguity = [1], divisibility = [1], constancy = [1]");
}

TEST_F(AxisInfoTest, GuardedDifferences) {
  auto facts = analyze(R"(
    %end = scf.while (%t = %n) : (i32) -> i32 {
      %least = arith.cmpi sge, %t, %i : i32
      %most = arith.cmpi slt, %t, %m : i32
      %both = arith.andi %least, %most : i1
      scf.condition(%both) %t : i32
    } do {
    ^bb0(%u: i32):
      %d = arith.subi %u, %i : i32
      tile.print "loop" %d : i32
      %e = arith.subi %m, %u : i32
      tile.print "below" %e : i32
      %f = arith.subi %i, %u : i32
      tile.print "reversed" %f : i32
      %v = arith.addi %u, %c1 : i32
      %g = arith.subi %v, %i : i32
      tile.print "later" %g : i32
      scf.yield %v : i32
    }
    %above = arith.cmpi sgt, %n, %i : i32
    scf.if %above {
      %x = arith.subi %n, %i : i32
      tile.print "branch" %x : i32
    } else {
      %y = arith.subi %n, %i : i32
      tile.print "otherwise" %y : i32
    }
  )");
  std::string nothing = "contiguity = [1], divisibility = [1], constancy = [1]";
  EXPECT_FACTS(facts, "loop", nothing + ", nonnegative offset");
  EXPECT_FACTS(facts, "below", nothing + ", nonnegative offset");
  EXPECT_FACTS(facts, "reversed", nothing);
  EXPECT_FACTS(facts, "later", nothing);
  EXPECT_FACTS(facts, "branch", nothing + ", nonnegative offset");
  EXPECT_FACTS(facts, "otherwise", nothing);
}

TEST_F(AxisInfoTest, UnreachedCodeIsUnknown) {
  auto facts = analyze(R"(
    %false = arith.constant false
    scf.if %false {
      tile.print "dead" %r : tensor<64xi32>
      %x = arith.addi %r, %r : tensor<64xi32>
      tile.print "inside" %x : tensor<64xi32>
    }
  )");
  EXPECT_FACTS(facts, "inside", "contiguity = [1], divisibility = [1], constancy = [1]");
}

} // namespace
