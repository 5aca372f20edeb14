// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The width of an access holds for every thread: checked by enumerating the elements of random layouts.
#include "Analysis/Addresses/AccessVector.h"
#include "Cta/CtaDialect.h"
#include "Layout/Print.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

constexpr std::array<unsigned, 4> elementBits = {8, 16, 32, 64};

/// A layout of a [16, 32] tensor for 2 warps. Mostly a permutation of the bits, with the lowest ones often in
/// registers; sometimes a basis is XORed with another one, or zero.
LinearLayout randomLayout(std::mt19937 &random) {
  auto pick = [&](unsigned count) { return std::uniform_int_distribution<unsigned>(0, count - 1)(random); };
  std::vector<uint64_t> bits;
  for (unsigned bit = 0; bit < 9; ++bit)
    bits.push_back(uint64_t(1) << bit);
  std::shuffle(bits.begin() + pick(5), bits.end(), random);
  if (pick(3) == 0)
    bits[pick(9)] ^= bits[pick(9)] ^ bits[0];
  std::vector<uint64_t> registers(bits.begin(), bits.begin() + 3), lanes(bits.begin() + 3, bits.begin() + 8);
  std::vector<uint64_t> warps = {bits[8]};
  if (pick(4) == 0)
    registers.push_back(0);
  return LinearLayout::distributed(registers, lanes, warps, {16, 32});
}

/// Addresses of a row-major [16, 32] tensor whose rows are `stride` elements apart, as `layout` holds them.
std::string kernelText(const LinearLayout &layout, unsigned bits, int64_t stride, int64_t divisibility) {
  return llvm::formatv(R"(
    #x = #cta.layout<{0}>
    tile.kernel @k(%p: !tile.ptr<i{1}> {{tile.divisibility = {3} : i32}) attributes {{num_warps = 2 : i32} {{
      %rows = tile.arange 0 to 512 : tensor<512xi32>
      %index = tile.reshape %rows : tensor<512xi32> -> tensor<16x32xi32>
      %c32 = arith.constant dense<32> : tensor<16x32xi32>
      %row = arith.divsi %index, %c32 : tensor<16x32xi32>
      %col = arith.remsi %index, %c32 : tensor<16x32xi32>
      %stride = arith.constant dense<{2}> : tensor<16x32xi32>
      %start = arith.muli %row, %stride : tensor<16x32xi32>
      %sum = arith.addi %start, %col : tensor<16x32xi32>
      %offset = tile.reshape %sum : tensor<16x32xi32> -> tensor<16x32xi32, #x>
      %base = tile.splat %p : !tile.ptr<i{1}> -> tensor<16x32x!tile.ptr<i{1}>, #x>
      %q = tile.addptr %base, %offset : tensor<16x32x!tile.ptr<i{1}>, #x>, tensor<16x32xi32, #x>
      %x = tile.load %q : tensor<16x32x!tile.ptr<i{1}>, #x>
      tile.return
    })",
                       layout::toString(layout), bits, stride, divisibility);
}

bool holdsForAllThreads(const LinearLayout &layout, int64_t vector, int64_t stride, int64_t base) {
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t first = 0; first < layout.numRegisters(); first += vector)
        for (int64_t index = 0; index < vector; ++index) {
          auto element = [&](int64_t reg) {
            std::vector<int32_t> at = layout.apply({{"register", reg}, {"lane", lane}, {"warp", warp}});
            return base + at[0] * stride + at[1];
          };
          if (element(first) % vector != 0 || element(first + index) != element(first) + index)
            return false;
        }
  return true;
}

TEST(AccessVector, RandomLayouts) {
  MLIRContext context;
  context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect>();
  std::mt19937 random(1);
  int64_t wide = 0;
  for (int trial = 0; trial < 400; ++trial) {
    LinearLayout layout = randomLayout(random);
    if (layout::verifyDistributed(layout))
      continue;
    unsigned bits = elementBits[random() % 4];
    int64_t stride = 32 + random() % 3 * 4, divisibility = int64_t(bits / 8) << random() % 5;
    std::string text = kernelText(layout, bits, stride, divisibility);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    AxisInfoAnalysis analysis(*module->getOps<KernelOp>().begin());
    module->walk([&](LoadOp load) {
      int64_t vector = getAccessVector(load.getPtr(), load.getMask(), analysis);
      EXPECT_LE(vector * bits, 128u);
      EXPECT_TRUE(holdsForAllThreads(layout, vector, stride, divisibility / (bits / 8))) << vector << "\n" << text;
      wide += vector > 1;
    });
  }
  EXPECT_GT(wide, 50);
}

} // namespace
