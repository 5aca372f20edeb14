// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Splits the offset of an access into indices. An element of `a[M, N] strides(lda, 1)` has the offset
// row * lda + column: the terms with lda give the row, and the other terms give the column. The conditions
// 0 <= row < M and 0 <= column < N are linear, although the offset is not.
#include "Verify/Accesses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tile::verify {

std::vector<Operation *> listAccesses(KernelOp kernel) {
  std::vector<Operation *> found;
  kernel.walk([&](Operation *op) {
    if (isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp, DescLoadOp, DescStoreOp>(op))
      found.push_back(op);
  });
  return found;
}

/// Evaluates an access through a descriptor to one element of a block. The coordinates of the element lie in the
/// descriptor's shape, because other elements are not accessed.
static void evaluateBlock(Access &access, Value descriptor, ValueRange offsets, Evaluator &evaluator) {
  auto make = descriptor.getDefiningOp<MakeDescOp>();
  if (!make) {
    auto argument = dyn_cast<BlockArgument>(descriptor);
    access.isDescribed = argument && isa<KernelOp>(argument.getOwner()->getParentOp());
    access.pointer.unknown = "a descriptor that does not come directly from make_tensor_descriptor";
    return;
  }
  access.pointer = evaluator.pointer(make.getBase(), {});
  auto block = cast<DescType>(descriptor.getType());
  const Index inside =
      evaluator.elementOf(RankedTensorType::get(block.getShape(), IntegerType::get(make.getContext(), 32)));
  for (size_t axis = 0; axis < inside.size(); ++axis) {
    IntegerTerm first = evaluator.integer(offsets[axis], {}), size = evaluator.integer(make.getShape()[axis], {}),
                stride = evaluator.integer(make.getStrides()[axis], {});
    evaluator.requireRange(first, offsets[axis]);
    evaluator.requireRange(size, make.getShape()[axis]);
    const Poly coordinate = first.poly + inside[axis];
    const Needs needs = merge(first.needs, size.needs);
    access.mask.push_back({Formula::lessEqual(0, coordinate), needs});
    access.mask.push_back({Formula::less(coordinate, size.poly), needs});
    access.pointer.offset = access.pointer.offset + coordinate * stride.poly;
    access.pointer.needs = merge(access.pointer.needs, merge(stride.needs, needs));
  }
}

Access evaluateAccess(Operation *op, Evaluator &evaluator) {
  Access access;
  access.op = op;
  auto evaluate = [&](const char *kind, Value pointer, Value mask) {
    access.kind = kind;
    const Index element = evaluator.elementOf(pointer.getType());
    access.pointer = evaluator.pointer(pointer, element);
    if (mask)
      access.mask = evaluator.conjuncts(mask, isa<RankedTensorType>(mask.getType()) ? element : Index());
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](LoadOp load) { evaluate("load", load.getPtr(), load.getMask()); })
      .Case([&](StoreOp store) { evaluate("store", store.getPtr(), store.getMask()); })
      .Case([&](AtomicRmwOp atomic) { evaluate("atomic", atomic.getPtr(), atomic.getMask()); })
      .Case([&](AtomicCasOp atomic) { evaluate("atomic", atomic.getPtr(), {}); })
      .Case([&](DescLoadOp load) {
        access.kind = "descriptor load";
        evaluateBlock(access, load.getDesc(), load.getOffsets(), evaluator);
      })
      .Case([&](DescStoreOp store) {
        access.kind = "descriptor store";
        evaluateBlock(access, store.getDesc(), store.getOffsets(), evaluator);
      });
  return access;
}

/// Splits a polynomial into quotient * (scale * stride) + remainder. Only terms that contain the stride are divided.
static std::pair<Poly, Poly> divideByStride(const Poly &offset, const Poly::Monomial &stride, Wide scale) {
  Poly quotient, remainder;
  for (const auto &[monomial, coefficient] : offset.getTerms()) {
    Poly::Monomial others;
    const bool contains = std::includes(monomial.begin(), monomial.end(), stride.begin(), stride.end());
    std::set_difference(monomial.begin(), monomial.end(), stride.begin(), stride.end(), std::back_inserter(others));
    if (!contains) {
      remainder = remainder + Poly::product(coefficient, monomial);
      continue;
    }
    const Wide whole = coefficient / scale - (coefficient % scale < 0 ? 1 : 0);
    quotient = quotient + Poly::product(whole, others);
    remainder = remainder + Poly::product(coefficient - whole * scale, monomial);
  }
  return {quotient, remainder};
}

Position findPosition(const BufferTerms &buffer, const Poly &offset) {
  Position position;
  std::vector<size_t> symbolic;
  Poly lastOfConstant;
  for (size_t axis = 0; axis < buffer.strides.size(); ++axis) {
    const Poly &stride = buffer.strides[axis];
    if (stride.getConstant())
      lastOfConstant = lastOfConstant + (buffer.shape[axis] - Poly(1)) * stride;
    else
      symbolic.push_back(axis);
    position.isInside = position.isInside && Formula::lessEqual(1, buffer.shape[axis]);
  }
  auto degree = [&](size_t axis) {
    size_t largest = 0;
    for (const auto &[monomial, coefficient] : buffer.strides[axis].getTerms())
      largest = std::max(largest, monomial.size());
    return largest;
  };
  llvm::stable_sort(symbolic, [&](size_t left, size_t right) { return degree(left) > degree(right); });
  Poly remaining = offset;
  for (size_t axis : symbolic) {
    const auto &terms = buffer.strides[axis].getTerms();
    Poly index;
    if (terms.size() == 1 && terms.begin()->second > 0)
      std::tie(index, remaining) = divideByStride(remaining, terms.begin()->first, terms.begin()->second);
    position.indices.push_back(index);
    position.extents.push_back(buffer.shape[axis]);
    position.isInside = position.isInside && Formula::lessEqual(0, index) && Formula::less(index, buffer.shape[axis]);
  }
  position.indices.push_back(remaining);
  position.extents.push_back(lastOfConstant + Poly(1));
  position.isInside =
      position.isInside && Formula::lessEqual(0, remaining) && Formula::lessEqual(remaining, lastOfConstant);
  return position;
}

Formula isWithin(const BufferTerms &buffer, const Poly &offset) {
  Formula isFilled;
  Poly last;
  for (auto [size, stride] : llvm::zip(buffer.shape, buffer.strides)) {
    isFilled = isFilled && Formula::lessEqual(1, size);
    last = last + (size - Poly(1)) * stride;
  }
  return isFilled && Formula::lessEqual(0, offset) && Formula::lessEqual(offset, last);
}

} // namespace tile::verify
