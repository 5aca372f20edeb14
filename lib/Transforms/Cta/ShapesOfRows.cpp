// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/ShapesOfRows.h"

#include "Cta/CtaDialect.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tile;

static bool multiplies(Operation *loop) {
  return loop->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

llvm::DenseSet<ArrayRef<int64_t>> tile::collectShapesOfRows(KernelOp kernel) {
  DenseSet<ArrayRef<int64_t>> ofRows;
  DenseMap<ArrayRef<int64_t>, int64_t> alongColumns; // reductions, less those along rows
  kernel.walk([&](DotOp dot) {
    if (isa<cta::FmaAttr>(dot.getEngineAttr()))
      ofRows.insert(dot.getType().getShape());
  });
  kernel.walk([&](ReduceOp reduce) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(reduce.getSrcs().front().getType()).getShape();
    auto loop = reduce->getParentOfType<LoopLikeOpInterface>();
    if (loop && !isa<ProgramsOp>(loop) && !multiplies(loop))
      ofRows.insert(shape);
    alongColumns[shape] += reduce.getAxis() == 0 ? 1 : -1;
  });
  for (auto [shape, count] : alongColumns)
    if (count > 0)
      ofRows.insert(shape);
  return ofRows;
}
