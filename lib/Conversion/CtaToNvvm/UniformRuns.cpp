// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons that have the same result for a run of registers; see UniformRuns.h.
#include "UniformRuns.h"

#include "Analysis/Addresses/AccessVector.h"
#include "Cta/CtaDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tile::conversion {

void noteUniformRuns(KernelOp kernel) {
  // Created only if needed: the analysis is slow, and most kernels have no such comparison.
  std::optional<AxisInfoAnalysis> analysis;
  kernel.walk([&](arith::CmpIOp compare) {
    cta::LayoutAttr layout = cta::getLayoutAttr(compare.getType());
    int64_t consecutive = layout ? getConsecutiveElements(layout.getLayout()) : 1;
    if (consecutive == 1 || llvm::all_of(compare->getUsers(), llvm::IsaPred<LoadOp, StoreOp>))
      return;
    if (!analysis)
      analysis.emplace(kernel);
    // The lowest register bit moves along the dimension of the run.
    unsigned runDim = 0;
    layout::Bases registers = layout.getLayout().bases(layout::registerDim);
    for (auto [dim, step] : llvm::enumerate(registers.front()))
      runDim = step == 1 ? dim : runDim;
    int64_t run = std::min(consecutive, analysis->get(compare).getConstancy(runDim));
    if (run > 1)
      compare->setAttr(uniformRun, IntegerAttr::get(IndexType::get(compare.getContext()), run));
  });
}

} // namespace tile::conversion
