// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Applies MLIR's integer range analysis to the offsets of pointers; see AddressSpan.h.
#include "Transforms/Cta/AddressSpan.h"

#include "Tile/TileDialect.h"

#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"

using namespace mlir;
using namespace tile;

void AddressSpans::analyse() {
  solver.emplace();
  dataflow::loadBaselineAnalyses(*solver);
  solver->load<dataflow::IntegerRangeAnalysis>();
  // The states are usable only if the analysis succeeds: before the fixed point, they are too optimistic.
  if (failed(solver->initializeAndRun(kernel)))
    solver->eraseAllStates();
}

std::optional<uint64_t> AddressSpans::getBytes(Value pointer) {
  if (!solver)
    analyse();
  constexpr uint64_t most = 1 << 20; // the limit in elements; it also keeps the sum from overflowing
  unsigned bytes = getBytesInMemory(cast<PtrType>(getElementTypeOf(pointer.getType())).getPointee());
  uint64_t elements = 1;
  while (auto sum = pointer.getDefiningOp<AddPtrOp>()) {
    auto *lattice = solver->lookupState<dataflow::IntegerValueRangeLattice>(sum.getOffset());
    if (!lattice || lattice->getValue().isUninitialized())
      return std::nullopt;
    const ConstantIntRanges &range = lattice->getValue().getValue();
    APInt distance = range.smax() - range.smin();
    if (distance.ugt(most - elements))
      return std::nullopt;
    elements += distance.getZExtValue();
    pointer = sum.getPtr();
  }
  if (!pointer.getDefiningOp<SplatOp>())
    return std::nullopt;
  return elements * bytes;
}
