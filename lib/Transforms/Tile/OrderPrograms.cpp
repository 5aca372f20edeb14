// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-order-programs: programs whose loops are longest begin first.
//
//   %first = 128 * program_id 0                     %first = 128 * program_id 0 descending
//   for %i = 0 to %first + 128 step 64 { … }   ==>  for …
//
// With a causal mask the last rows see all the others, and the first only themselves. CTAs begin in the order of their
// numbers, so the longest programs would be the last to begin, and all others would have ended long before them. They
// are also no work to be dealt out beforehand: with 128 blocks of rows, and 132 CTAs that take every 132nd program,
// some CTAs would have only long ones.
#include "Analysis/ProgramLengths.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_TILEORDERPROGRAMS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

constexpr unsigned numAxes = 3;
constexpr double leastGrowth = 0.25; // in iterations; a loop that deals out work has one more in some programs only

struct TileOrderPrograms : tile::impl::TileOrderProgramsBase<TileOrderPrograms> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    ProgramLengths lengths(kernel);
    for (unsigned axis = 0; axis < numAxes; ++axis) {
      const double growth = lengths.getGrowth(axis).value_or(0);
      if (std::abs(growth) < leastGrowth)
        continue;
      kernel.setUneven(true);
      if (growth > 0)
        kernel.walk([&](ProgramIdOp id) {
          if (id.getAxis() == axis)
            id.setDescending(true);
        });
    }
  }
};

} // namespace
