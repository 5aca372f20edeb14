// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Left operands that a loop holds: detection in PTX, and in machine code that overwrites them.
#include "Codegen/HeldOperands.h"

#include "CubinText.h"

#include <gtest/gtest.h>

using namespace tile::codegen;

namespace {

constexpr Words wgmma{0x40e0000c64387df0, 0x000fe60008000838}; // HGMMA R56, R100, gdesc[UR12], R56
constexpr Words packs{0x000000000064723e, 0x000fc00000000000}; // F2FP R100, …
constexpr Words exits{0x000000000000794d, 0x000fea0003800000}; // EXIT

std::string makePtx(const std::string &beforeLoop, const std::string &inLoop) {
  return ".visible .entry kernel()\n{\n\t.reg .b32 %r<9>;\n" + beforeLoop + "$L__BB0_1:\n" + inLoop +
         "{\nwgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %rd1, 1, 1, "
         "1, "
         "0;\n}\n\t@%p1 bra \t$L__BB0_1;\n}\n";
}

constexpr const char *load = "\tld.shared.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd2];\n";

} // namespace

TEST(HeldOperands, areGuarded) {
  std::string guarded = guardHeldOperands(makePtx(load, ""));
  EXPECT_NE(guarded.find("{\n\t.reg .pred %held_never;"), std::string::npos);
  EXPECT_NE(guarded.find("$L__BB0_1:\n\t@!%held_never bra $Lheld0;\n\tadd.u32 %r1, %r1, %held_zero;\n"),
            std::string::npos);
  EXPECT_NE(guarded.find("add.u32 %r4, %r4, %held_zero;\n$Lheld0:\n{\nwgmma"), std::string::npos);
}

TEST(HeldOperands, negative_otherOperands) {
  EXPECT_EQ(guardHeldOperands(makePtx("", load)), "");
  EXPECT_EQ(guardHeldOperands(makePtx(load, "\t@%p2 add.s32 \t%r2, %r2, 1;\n")), "");
  std::string withoutLoop = makePtx(load, "");
  withoutLoop.erase(withoutLoop.find("$L"), 11);
  EXPECT_EQ(guardHeldOperands(withoutLoop), "");
  EXPECT_EQ(guardHeldOperands("mma.sync"), "");
}

TEST(HeldOperands, inMachineCode) {
  EXPECT_TRUE(keepsHeldOperands(makeCubin({packs, wgmma, other, branch(-2), packs})));
  EXPECT_TRUE(keepsHeldOperands(makeCubin({packs, wgmma, packs, branch(-3)}))); // written before it is read
  EXPECT_TRUE(keepsHeldOperands(makeCubin({wgmma, exits, packs, branch(-3)})));
  EXPECT_TRUE(keepsHeldOperands("PTX"));
}

TEST(HeldOperands, negative_inMachineCode) {
  EXPECT_FALSE(keepsHeldOperands(makeCubin({packs, other, wgmma, packs, branch(-2)})));
}
