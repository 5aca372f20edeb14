// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests the planning of prefetches in a loop, before anything is rewritten.
#include "Transforms/Cta/PipelinePlan.h"

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;

namespace {

// 4 warps, with 32 x 32 elements; and one warp, with the operands of a step of m16n8k16.
constexpr const char *types = R"(
#load = #cta.layout<[32, 32], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [0, 16], [1, 0], [2, 0], [4, 0]], warp = [[8, 0], [16, 0]]>
#shared = #cta.layout<[32, 32], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [1, 0], [2, 0], [4, 0], [8, 0], [16, 0]]>
#a = #cta.layout<[16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 0], [0, 0]]>
#b = #cta.layout<[16, 32], register = [[1, 0], [8, 0]], lane = [[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], warp = [[0, 8], [0, 16]]>
#c = #cta.layout<[16, 32], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[0, 8], [0, 16]]>
#one = #cta.layout<[128], register = [], lane = [[1], [2], [4], [8], [16]], warp = [[32], [64]]>
!p = tensor<32x32x!tile.ptr<f16>, #load>
!x = tensor<32x32xf16, #load>
!buffer = !cta.buffer<32x32xf16, #shared>
!a = tensor<16x16xf16, #a>
!b = tensor<16x32xf16, #b>
!c = tensor<16x32xf32, #c>
!ptrs = tensor<128x!tile.ptr<f32>, #one>
!line = tensor<128xf32, #one>
)";

constexpr const char *copyOne = R"(
    %x = cta.alloc : !buffer
    cta.async_copy %s, %x {vector = 8 : i32} : !p, !buffer
    cta.async_commit
    cta.async_wait 0
)";

/// Returns the plan of the only loop; "nothing" if it is not changed.
std::string planOf(const std::string &body, const std::string &carried, int stages = 3) {
  MLIRContext context;
  context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect, scf::SCFDialect>();
  const std::string text =
      std::string(types) +
      R"(tile.kernel @f(%p: !tile.ptr<f16>, %q: !tile.ptr<f32>, %n: i32) attributes {num_stages = )" +
      std::to_string(stages) + R"( : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zx = arith.constant dense<0.0> : !x
  %zc = arith.constant dense<0.0> : !c
  %zl = arith.constant dense<0.0> : !line
  %s = tile.splat %p : !tile.ptr<f16> -> !p
  %l = tile.splat %q : !tile.ptr<f32> -> !ptrs
  scf.for %i = %c0 to %n step %c1 )" +
      carried + " {" + body + "}\n tile.return\n}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module) << text;
  std::string printed;
  if (module)
    module->walk([&](scf::ForOp loop) {
      std::optional<PipelinePlan> plan = planPipeline(loop, *target::findTarget("sm_80"));
      printed = plan ? plan->print() : "nothing";
    });
  return printed;
}

const std::string sumOfCopies = std::string(copyOne) + R"(
    %y = cta.local_load %x : !buffer -> !x
    %t = arith.addf %sum, %y : !x
    scf.yield %t : !x
)";
const std::string carriesSum = "iter_args(%sum = %zx) -> (!x) : i32";

TEST(PipelinePlan, copies) {
  EXPECT_EQ(planOf(sumOfCopies, carriesSum), "copies run 2 iterations ahead");
  EXPECT_EQ(planOf(sumOfCopies, carriesSum, /*stages=*/4), "copies run 3 iterations ahead");
}

TEST(PipelinePlan, negative_oneStage) {
  EXPECT_EQ(planOf(sumOfCopies, carriesSum, /*stages=*/1), "nothing");
}

TEST(PipelinePlan, negative_copiesWhatIsWritten) {
  EXPECT_EQ(planOf(std::string(copyOne) + R"(
    %y = cta.local_load %x : !buffer -> !x
    tile.store %s, %y : !p
)",
                   ": i32"),
            "nothing");
}

/// Operands of two steps, the second of which may be for another dot.
std::string dotInSteps(const std::string &secondSum) {
  return std::string(copyOne) + R"(
    %a0 = cta.local_load %x at [0, 0] : !buffer -> !a
    %b0 = cta.local_load %x at [0, 0] : !buffer -> !b
    %a1 = cta.local_load %x at [0, 16] : !buffer -> !a
    %b1 = cta.local_load %x at [16, 0] : !buffer -> !b
    %d0 = cta.mma_sync %a0, %b0, %sum {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
    %d1 = cta.mma_sync %a1, %b1, )" +
         secondSum + R"( {shape = array<i32: 16, 8, 16>} : !a, !b -> !c
    scf.yield %d1 : !c
)";
}

TEST(PipelinePlan, steps) {
  const std::string carriesDot = "iter_args(%sum = %zc) -> (!c) : i32";
  EXPECT_EQ(planOf(dotInSteps("%d0"), carriesDot),
            "copies run 3 iterations ahead, operands of the first step are loaded during the last one");
  EXPECT_EQ(planOf(dotInSteps("%zc"), carriesDot), "copies run 2 iterations ahead");
}

TEST(PipelinePlan, shortLoop) {
  const std::string body = R"(
    %y = tile.load %l : !ptrs
    %t = arith.addf %sum, %y : !line
    scf.yield %t : !line
)";
  EXPECT_EQ(planOf(body, "iter_args(%sum = %zl) -> (!line) : i32"), "loads of 4 iterations are issued together");
}

} // namespace
