// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The global-memory accesses of a kernel, each represented by one symbolic element.
#pragma once

#include "Verify/Evaluator.h"

namespace tile::verify {

struct Access {
  mlir::Operation *op = nullptr;
  const char *kind = "";       ///< "load", "descriptor store"
  PointerTerm pointer;         ///< pointer to the element
  std::vector<TruthTerm> mask; ///< the element is accessed if all are true
  bool isDescribed = false;    ///< the buffer is described by a descriptor parameter
};

/// Returns the loads, stores, atomics and descriptor accesses, in order.
std::vector<mlir::Operation *> listAccesses(KernelOp kernel);

/// Evaluates an access at a symbolic element, which represents all of its elements.
Access evaluateAccess(mlir::Operation *op, Evaluator &evaluator);

/// The position of an element in its buffer: one index for each dimension with a symbolic stride, and one index for all
/// other dimensions together.
struct Position {
  Formula isInside = true; ///< sufficient conditions, linear in the indices
  std::vector<Poly> indices;
  std::vector<Poly> extents; ///< exclusive upper bounds of `indices`, if no dimension has size 0
};
Position findPosition(const BufferTerms &buffer, const Poly &offset);

/// Returns the condition that an offset is inside the buffer, in nonlinear arithmetic.
Formula isWithin(const BufferTerms &buffer, const Poly &offset);

} // namespace tile::verify
