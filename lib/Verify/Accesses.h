// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The accesses of a kernel to global memory, one element of each as terms.
#pragma once

#include "Verify/Evaluator.h"

namespace tile::verify {

struct Access {
  mlir::Operation *op = nullptr;
  const char *kind = "";       ///< "load", "descriptor store"
  PointerTerm pointer;         ///< of the element
  std::vector<TruthTerm> mask; ///< the element is accessed if all are true
  bool isDescribed = false;    ///< the buffer is what a descriptor parameter says
};

/// Returns the loads, stores, atomics and descriptor accesses, in order.
std::vector<mlir::Operation *> listAccesses(KernelOp kernel);

/// Evaluates an access at an element that stands for any of its elements.
Access evaluateAccess(mlir::Operation *op, Evaluator &evaluator);

/// Where an element lies in its buffer: an index for each dimension with a symbolic stride, and one for the others.
struct Position {
  Formula isInside = true; ///< sufficient, and linear in the indices
  std::vector<Poly> indices;
  std::vector<Poly> extents; ///< of a filled buffer: all indices below these are elements, or lie between some
};
Position findPosition(const BufferTerms &buffer, const Poly &offset);

/// Returns the condition that an offset lies in the buffer, in nonlinear arithmetic.
Formula isWithin(const BufferTerms &buffer, const Poly &offset);

} // namespace tile::verify
