// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares the coordinates of copies as polynomials, dimension by dimension: two copies that are disjoint in one
// dimension are disjoint.
#include "Transforms/Cta/StoreOverlap.h"

#include "Analysis/Addresses/PointerBases.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

namespace {

/// Returns the size of the copy along each dimension of its tensor; a buffer may omit leading dimensions of size 1.
SmallVector<int64_t> extentsOf(cta::TmaStoreOp store) {
  ArrayRef<int64_t> shape = store.getBuffer().getType().getShape();
  SmallVector<int64_t> extents(store.getOffsets().size() - shape.size(), 1);
  extents.append(shape.begin(), shape.end());
  return extents;
}

bool haveOneForm(cta::TmaStoreOp earlier, cta::TmaStoreOp later) {
  return earlier.getOffsets().size() == later.getOffsets().size();
}

} // namespace

StoreOverlap::StoreOverlap(KernelOp kernel) : facts(kernel), blocks(facts) {}

Polynomial StoreOverlap::polynomialOf(Value value) {
  std::optional<AffineBlock> block = blocks.get(value);
  return block && !block->base ? block->start : Polynomial(value);
}

std::optional<int64_t> StoreOverlap::distance(Value earlier, Value later) {
  return (polynomialOf(later) - polynomialOf(earlier)).getConstant();
}

bool StoreOverlap::areApart(cta::TmaStoreOp earlier, cta::TmaStoreOp later) {
  SmallVector<int64_t> first = extentsOf(earlier), second = extentsOf(later);
  for (auto [dim, offsets] : llvm::enumerate(llvm::zip(earlier.getOffsets(), later.getOffsets()))) {
    std::optional<int64_t> distanceAlong = distance(std::get<0>(offsets), std::get<1>(offsets));
    if (distanceAlong && (*distanceAlong >= first[dim] || -*distanceAlong >= second[dim]))
      return true;
  }
  return false;
}

/// Returns true if, in each iteration of `loop`, some coordinate advances by more than the extent of both copies along
/// that dimension, whatever inner loops do.
bool StoreOverlap::areApartInOtherIterations(cta::TmaStoreOp earlier, cta::TmaStoreOp later, LoopLikeOpInterface loop) {
  auto counting = dyn_cast<scf::ForOp>(loop.getOperation());
  APInt step;
  if (!counting || !matchPattern(counting.getStep(), m_ConstantInt(&step)))
    return false;
  SmallVector<int64_t> first = extentsOf(earlier), second = extentsOf(later);
  auto isOutside = [&](Value factor) { return counting.isDefinedOutsideOfLoop(factor); };
  for (auto [dim, offsets] : llvm::enumerate(llvm::zip(earlier.getOffsets(), later.getOffsets()))) {
    auto [fixed, moving] = polynomialOf(std::get<0>(offsets)).partition(isOutside);
    auto [otherFixed, otherMoving] = polynomialOf(std::get<1>(offsets)).partition(isOutside);
    std::optional<int64_t> between = (otherFixed - fixed).getConstant();
    if (!between || !(moving == otherMoving) || moving.getTerms().size() != 1)
      continue;
    const Polynomial::Term &term = moving.getTerms().front();
    if (term.factors.size() != 1 || term.factors.front() != counting.getInductionVar())
      continue;
    int64_t move = std::abs(term.coefficient * step.getSExtValue());
    if (move >= std::max(first[dim], second[dim]) + std::abs(*between))
      return true;
  }
  return false;
}

bool StoreOverlap::mayOverlap(cta::TmaStoreOp earlier, cta::TmaStoreOp later, bool inOtherIteration) {
  if (!PointerBases::writtenBy(earlier).mayOverlap(PointerBases::writtenBy(later)))
    return false;
  // Two reductions of the same kind commute, so they need not be ordered.
  if (earlier.getReduce() && earlier.getReduce() == later.getReduce())
    return false;
  // The coordinates of different descriptors of one tensor may have different units.
  if (earlier.getDesc() != later.getDesc() || !haveOneForm(earlier, later))
    return true;
  if (!inOtherIteration)
    return !areApart(earlier, later);
  for (auto loop = earlier->getParentOfType<LoopLikeOpInterface>(); loop;
       loop = loop->getParentOfType<LoopLikeOpInterface>())
    if (loop->isAncestor(later) && !isa<ProgramsOp>(loop.getOperation()) &&
        !areApartInOtherIterations(earlier, later, loop))
      return true;
  return false;
}

bool StoreOverlap::areOfOneThread(cta::TmaStoreOp earlier, cta::TmaStoreOp later) {
  int64_t groups = earlier.getGroups();
  if (groups != int64_t(later.getGroups()))
    return false;
  if (groups == 1)
    return true;
  // Each warp group copies its share of a block. Both copies divide the tensor among the groups in the same way if
  // their blocks begin at the same offset, or if both begin at multiples of the block size.
  cta::BufferType buffer = earlier.getBuffer().getType();
  if (buffer.getShape() != later.getBuffer().getType().getShape() || earlier.getDesc() != later.getDesc())
    return false;
  unsigned axis = buffer.getPartAxis(groups);
  size_t dim = earlier.getOffsets().size() - buffer.getShape().size() + axis;
  auto isMultiple = [&](cta::TmaStoreOp store) {
    return facts.get(store.getOffsets()[dim]).getDivisibilityOfAll() % buffer.getShape()[axis] == 0;
  };
  return distance(earlier.getOffsets()[dim], later.getOffsets()[dim]) == 0 ||
         (isMultiple(earlier) && isMultiple(later));
}
