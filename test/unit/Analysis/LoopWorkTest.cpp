// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The resources of a multiprocessor that operations use, counted by hand.
#include "Analysis/Loops/LoopWork.h"

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace tile;

namespace {

// 4 warps, with 64 x 64 elements of which each thread holds 32; and one value for each row, which 4 lanes hold.
constexpr const char *layouts = R"(
#q = #cta.layout<[64, 16], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0], [4, 8], [8, 0], [16, 0], [32, 0]]>
#k = #cta.layout<[16, 64], offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32], [1, 8], [2, 16], [4, 32], [8, 0]]>
#c = #cta.layout<[64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#row = #cta.layout<[64], register = [[8]], lane = [[0], [0], [1], [2], [4]], warp = [[16], [32]]>
#p = #cta.layout<[64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
!q = !cta.buffer<64x16xf16, #q>
!k = !cta.buffer<16x64xf16, #k>
!c = tensor<64x64xf32, #c>
)";

// The data sheet of a fictitious multiprocessor whose rates give round results.
constexpr target::Rates rates{
    .clockGHz = 1, .memory = 1, .l2 = 0, .multiplyAdds16 = 1024, .lanes = 128, .special = 16, .ingest = 64};

std::string countBody(const char *body) {
  MLIRContext context;
  context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect>();
  std::string text = std::string(layouts) +
                     R"(tile.kernel @f(%n: i32) {
    %x = arith.constant dense<1.0> : !c
    %p = arith.constant dense<1.0> : tensor<64x16xf16, #p>
    %r = arith.constant dense<1.0> : tensor<64xf32, #row>
    )" + body + "\ntile.return\n}";
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "does not parse";
  return countWork((*module->getOps<KernelOp>().begin()).getBody().front(), rates).print();
}

} // namespace

// 64 * 64 * 16 multiplications at 1024 a clock; 2 KiB of each operand at 128 bytes a clock.
TEST(LoopWork, wgmma) {
  EXPECT_EQ(countBody(R"(
    %q = cta.alloc : !q
    %k = cta.alloc : !k
    %d, %t = cta.wgmma %q, %k, %x {n = 64 : i32} : !q, !k -> !c)"),
            "tensor cores 64, shared memory 32");
}

// The left operand comes from registers.
TEST(LoopWork, wgmmaOfRegisters) {
  EXPECT_EQ(countBody(R"(
    %k = cta.alloc : !k
    %d, %t = cta.wgmma %p, %k, %x {n = 64 : i32} : tensor<64x16xf16, #p>, !k -> !c)"),
            "tensor cores 64, shared memory 16");
}

// 4096 elements, at 16 or 128 per clock. Each of 4 lanes computes the value of a row separately, which makes 256
// values.
TEST(LoopWork, elements) {
  EXPECT_EQ(countBody("%a = math.exp2 %x : !c"), "special functions 256");
  EXPECT_EQ(countBody("%a = arith.mulf %x, %x : !c"), "arithmetic 32");
  EXPECT_EQ(countBody("%a = math.exp2 %r : tensor<64xf32, #row>"), "special functions 16");
}

// Operations in branches and loops count once, and scalars not at all.
TEST(LoopWork, regions) {
  EXPECT_EQ(countBody(R"(
    scf.for %i = %n to %n step %n : i32 {
      %m = arith.addi %i, %n : i32
      %a = arith.mulf %x, %x : !c
    })"),
            "arithmetic 32");
  EXPECT_EQ(countBody("%m = arith.addi %n, %n : i32"), "none");
}

// A slot of 4 KiB arrives with 64 bytes a clock.
TEST(LoopWork, slot) {
  EXPECT_EQ(countBody(R"(
    %ring = cta.ring_alloc : !cta.ring<3 x [!q, !k]>
    %slot = cta.ring_wait %ring : !cta.ring<3 x [!q, !k]>)"),
            "copies 64");
}
