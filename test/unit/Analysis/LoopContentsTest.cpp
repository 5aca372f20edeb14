// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contents of loops other than arithmetic.
#include "Analysis/Loops/LoopContents.h"

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;

namespace {

constexpr const char *types = R"(
#q = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#k = #cta.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!q = !cta.buffer<64x16xf16, #q>
!k = !cta.buffer<16x64xf16, #k>
!c = tensor<64x64xf32, #c>
)";

/// Returns the contents of a loop with this body.
std::string contentsOf(const std::string &body) {
  MLIRContext context;
  context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect, scf::SCFDialect>();
  const std::string text = std::string(types) + R"(
tile.kernel @f(%p: !tile.ptr<f32>, %n: i32, %any: i1) {
  %v = arith.constant dense<1.0> : tensor<128xf32>
  %x = arith.constant dense<1.0> : !c
  scf.for %i = %n to %n step %n : i32 {)" +
                           body + "}\n tile.return\n}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  return module ? LoopContents::of(*(*module->getOps<KernelOp>().begin()).getOps<scf::ForOp>().begin()).print() : "";
}

} // namespace

TEST(LoopContents, arithmetic) {
  EXPECT_EQ(contentsOf("%y = arith.addf %v, %v : tensor<128xf32>\n%s = tile.addptr %p, %i : !tile.ptr<f32>, i32"),
            "nothing");
}

// Operations in branches and inner loops count, too.
TEST(LoopContents, accesses) {
  EXPECT_EQ(contentsOf("%y = tile.load %p : !tile.ptr<f32>"), "load");
  EXPECT_EQ(contentsOf(R"(
    scf.if %any {
      scf.for %j = %n to %n step %n : i32 {
        %y = tile.load %p : !tile.ptr<f32>
        tile.store %p, %y : !tile.ptr<f32>
      }
    })"),
            "load, store, branch, inner loop");
}

TEST(LoopContents, negative_keepsItsOrder) {
  EXPECT_EQ(contentsOf("%y = tile.load %p volatile : !tile.ptr<f32>"), "other");
  EXPECT_EQ(contentsOf("tile.barrier"), "other");
}

TEST(LoopContents, threadsExchange) {
  EXPECT_EQ(contentsOf(R"(
    %s = tile.reduce %v {axis = 0 : i32} : tensor<128xf32> -> f32 {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      tile.yield %sum : f32
    })"),
            "reduction");
}

TEST(LoopContents, mmas) {
  EXPECT_EQ(contentsOf(R"(
    %q = cta.alloc : !q
    %k = cta.alloc : !k
    %d, %t = cta.wgmma %q, %k, %x {n = 64 : i32} : !q, !k -> !c
    %r = cta.await %d after %t : !c)"),
            "wgmma, block read");
}

TEST(LoopContents, questions) {
  MLIRContext context;
  context.loadDialect<TileDialect, arith::ArithDialect, scf::SCFDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"(
    tile.kernel @f(%p: !tile.ptr<f32>, %n: i32) {
      scf.for %i = %n to %n step %n : i32 {
        %y = tile.load %p : !tile.ptr<f32>
        tile.store %p, %y : !tile.ptr<f32>
      }
      tile.return
    })",
                                                             &context);
  ASSERT_TRUE(module);
  using enum LoopContent;
  LoopContents contents = LoopContents::of(*(*module->getOps<KernelOp>().begin()).getOps<scf::ForOp>().begin());
  EXPECT_TRUE(contents.has(load));
  EXPECT_FALSE(contents.has(branch));
  EXPECT_TRUE(contents.hasAny({branch, store}));
  EXPECT_FALSE(contents.hasAny({branch, other}));
  EXPECT_TRUE(contents.hasOnly({load, store, branch}));
  EXPECT_FALSE(contents.hasOnly({load, branch}));
}
