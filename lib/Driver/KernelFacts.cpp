// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derives the constraints that a kernel's dots and accumulators impose on block sizes.
#include "Driver/KernelFacts.h"

#include "Analysis/Dots/PaddedBlocks.h"
#include "Analysis/Engines/OddBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::driver {

/// Returns true if a dot has a size that is not a power of two and that cannot be padded for wgmma.
static bool hasDotUnsupportedByWgmma(KernelOp kernel) {
  WalkResult result = kernel.walk([](DotOp dot) {
    bool isUnsupported = needsPadding(dot.getAcc().getType()) && !mayHaveOddSize(dot);
    return isUnsupported ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Counts the matrix elements among the results of an operation with regions, such as the accumulators of a loop.
static int64_t countResults(Operation *op) {
  int64_t elements = 0;
  for (Type type : op->getResultTypes())
    if (auto matrix = dyn_cast<RankedTensorType>(type);
        matrix && matrix.getRank() == 2 && matrix.getElementType().isIntOrFloat())
      elements += matrix.getNumElements();
  return elements;
}

/// Returns true if the dot needs a separate accumulator, because its result is not simply added to another one.
static bool hasSeparateAccumulator(DotOp dot) {
  if (!matchPattern(dot.getAcc(), m_Constant()))
    return false;
  return !dot->hasOneUse() || !isa<arith::AddFOp, arith::AddIOp>(*dot->user_begin());
}

/// Returns true if a thread holds the accumulators of two dots at the same time.
static bool hasFurtherAccumulators(KernelOp kernel) {
  WalkResult result = kernel.walk([](DotOp dot) {
    int64_t elements = dot.getType().getNumElements(), most = 0;
    for (Operation *around = dot->getParentOp(); !isa<KernelOp>(around); around = around->getParentOp())
      most = std::max(most, countResults(around));
    return most + (hasSeparateAccumulator(dot) ? elements : 0) >= 2 * elements ? WalkResult::interrupt()
                                                                               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Returns true if the kernel has f32 dots with a higher precision than wgmma provides.
static bool multipliesExactly(KernelOp kernel) {
  WalkResult result = kernel.walk([](DotOp dot) {
    bool isFloat = dot.getA().getType().getElementType().isF32();
    return isFloat && dot.getPrecision() != InputPrecision::tf32 ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

KernelFacts refusalOf(int64_t rows, int64_t columns) {
  return {.refusesOddRows = !llvm::isPowerOf2_64(rows), .refusesOddColumns = !llvm::isPowerOf2_64(columns)};
}

KernelFacts findFacts(KernelOp kernel, int64_t rows, int64_t columns) {
  // Blocks are padded anyway if their size in another dimension is not a power of two.
  bool isRefused = findPaddingProblem(kernel) || hasDotUnsupportedByWgmma(kernel);
  KernelFacts facts = isRefused ? refusalOf(rows, columns) : KernelFacts();
  facts.multipliesExactly = multipliesExactly(kernel);
  facts.hasFurtherAccumulators = hasFurtherAccumulators(kernel);
  return facts;
}

KernelFacts KernelFacts::operator|(const KernelFacts &other) const {
  return {.refusesOddRows = refusesOddRows || other.refusesOddRows,
          .refusesOddColumns = refusesOddColumns || other.refusesOddColumns,
          .multipliesExactly = multipliesExactly || other.multipliesExactly,
          .hasFurtherAccumulators = hasFurtherAccumulators || other.hasFurtherAccumulators};
}

} // namespace tile::driver
