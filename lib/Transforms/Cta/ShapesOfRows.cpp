// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/ShapesOfRows.h"

#include "Cta/CtaDialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace tile;

static bool multiplies(Operation *loop) {
  return loop->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

llvm::SetVector<Value> tile::collectComputed(llvm::SetVector<Value> values) {
  for (size_t index = 0; index < values.size(); ++index)
    for (OpOperand &use : values[index].getUses()) {
      Operation *user = use.getOwner(), *parent = user->getParentOp();
      if (isElementwise(user))
        values.insert_range(user->getResults());
      if (!isa<scf::YieldOp>(user) || !isa<scf::ForOp, scf::IfOp>(parent))
        continue;
      values.insert(parent->getResult(use.getOperandNumber()));
      if (auto loop = dyn_cast<scf::ForOp>(parent))
        values.insert(loop.getRegionIterArg(use.getOperandNumber()));
    }
  return values;
}

/// Returns true if the reshape splits or joins dimensions, other than by adding or removing dimensions of size 1 as for
/// a descriptor's block.
static bool unpacks(ReshapeOp reshape) {
  auto isMany = [](int64_t size) { return size != 1; };
  return !llvm::equal(llvm::make_filter_range(reshape.getSrc().getType().getShape(), isMany),
                      llvm::make_filter_range(reshape.getType().getShape(), isMany));
}

llvm::DenseSet<ArrayRef<int64_t>> tile::collectShapesOfRows(KernelOp kernel) {
  DenseSet<ArrayRef<int64_t>> ofRows;
  // number of reductions along columns minus number of those along rows
  DenseMap<ArrayRef<int64_t>, int64_t> alongColumns;
  llvm::SetVector<Value> computed;
  kernel.walk([&](DotOp dot) {
    computed.insert(dot.getResult());
    if (isa<cta::FmaAttr>(dot.getEngineAttr()))
      ofRows.insert(dot.getType().getShape());
  });
  computed = collectComputed(std::move(computed));
  kernel.walk([&](ReshapeOp reshape) {
    if (!computed.contains(reshape.getSrc()) && unpacks(reshape))
      ofRows.insert(reshape.getType().getShape());
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
