// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What products and sums of a kernel ask of its blocks.
#include "Driver/KernelFacts.h"

#include "Analysis/OddBlocks.h"
#include "Analysis/PaddedBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tile::driver {

/// Whether a product has sizes that are not powers of two, which warp groups cannot multiply in its form.
static bool hasProductForNoWarpGroup(KernelOp kernel) {
  WalkResult result = kernel.walk([](DotOp dot) {
    bool isInVain = needsPadding(dot.getAcc().getType()) && !mayHaveOddSize(dot);
    return isInVain ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Elements of matrices of numbers that an operation with regions results in, such as sums that a loop carries.
static int64_t countResults(Operation *op) {
  int64_t elements = 0;
  for (Type type : op->getResultTypes())
    if (auto matrix = dyn_cast<RankedTensorType>(type);
        matrix && matrix.getRank() == 2 && matrix.getElementType().isIntOrFloat())
      elements += matrix.getNumElements();
  return elements;
}

/// Whether a product has sums of its own, beside those that it is added to in another form.
static bool hasOwnSums(DotOp dot) {
  if (!matchPattern(dot.getAcc(), m_Constant()))
    return false;
  return !dot->hasOneUse() || !isa<arith::AddFOp, arith::AddIOp>(*dot->user_begin());
}

/// Whether a thread has the sums of two products at a time.
static bool keepsMoreSums(KernelOp kernel) {
  WalkResult result = kernel.walk([](DotOp dot) {
    int64_t sums = dot.getType().getNumElements(), most = 0;
    for (Operation *around = dot->getParentOp(); !isa<KernelOp>(around); around = around->getParentOp())
      most = std::max(most, countResults(around));
    return most + (hasOwnSums(dot) ? sums : 0) >= 2 * sums ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Whether it multiplies f32 more precisely than warp groups do.
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
  // What other blocks have such sizes is padded whatever is chosen.
  bool isRefused = findPaddingProblem(kernel) || hasProductForNoWarpGroup(kernel);
  KernelFacts facts = isRefused ? refusalOf(rows, columns) : KernelFacts();
  facts.multipliesExactly = multipliesExactly(kernel);
  facts.keepsMoreSums = keepsMoreSums(kernel);
  return facts;
}

KernelFacts KernelFacts::operator|(const KernelFacts &other) const {
  return {.refusesOddRows = refusesOddRows || other.refusesOddRows,
          .refusesOddColumns = refusesOddColumns || other.refusesOddColumns,
          .multipliesExactly = multipliesExactly || other.multipliesExactly,
          .keepsMoreSums = keepsMoreSums || other.keepsMoreSums};
}

} // namespace tile::driver
