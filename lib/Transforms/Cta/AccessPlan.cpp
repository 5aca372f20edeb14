// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Transforms/Cta/AccessPlan.h"

#include "Analysis/Addresses/AccessVector.h"
#include "Analysis/Addresses/PointerBases.h"
#include "Analysis/Addresses/StepEstimate.h"
#include "Analysis/Dots/DotPlan.h"
#include "Layout/Factories.h"
#include "Target/Tuned.h"
#include "Tile/TileDialect.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

#include <limits>

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

LinearLayout AccessPlan::getLayout(ArrayRef<int64_t> shape, unsigned numWarps) const {
  return layout::defaultBlocked(shape.vec(), order, vector, numWarps);
}

LinearLayout AccessPlan::getRowLayout(ArrayRef<int64_t> shape, unsigned numWarps) const {
  layout::BlockedTile tile = layout::defaultBlockedTile(shape.vec(), order, vector, numWarps);
  int64_t warps = numWarps;
  for (unsigned dim : llvm::reverse(order)) {
    tile.warpsPerCta[dim] =
        std::clamp<int64_t>(shape[dim] / (tile.sizePerThread[dim] * tile.threadsPerWarp[dim]), 1, warps);
    warps /= tile.warpsPerCta[dim];
  }
  // Warps beyond the shape hold copies.
  tile.warpsPerCta[order.back()] *= warps;
  return layout::blocked(shape.vec(), tile);
}

AccessPlan tile::planAccess(Value pointer, AxisInfoAnalysis &analysis) {
  auto type = cast<RankedTensorType>(pointer.getType());
  const AxisInfo &info = analysis.get(pointer);
  AccessPlan plan;
  plan.order = layout::rowMajorOrder(type.getRank());
  auto rank = [&](unsigned dim) {
    double step = estimateStep(pointer, dim, analysis);
    return std::pair(-info.getContiguity(dim), step == 0 ? std::numeric_limits<double>::infinity() : step);
  };
  llvm::stable_sort(plan.order, [&](unsigned a, unsigned b) { return rank(a) < rank(b); });
  unsigned bytes = getBytesInMemory(cast<PtrType>(type.getElementType()).getPointee());
  int64_t aligned = std::max<int64_t>(info.getDivisibility(plan.order[0]) / bytes, 1), widest = 16 / bytes;
  plan.vector = std::max<int64_t>(1, std::min({info.getContiguity(plan.order[0]), aligned, widest}));
  plan.isFull = plan.vector == widest;
  plan.stepBytes = estimateStep(pointer, plan.order[0], analysis) * bytes;
  return plan;
}

DenseSet<Operation *> tile::collectOperands(KernelOp kernel) {
  DenseSet<Operation *> operands;
  kernel.walk([&](DotOp dot) {
    operands.insert(traceOperand(dot.getA()).source);
    operands.insert(traceOperand(dot.getB()).source);
  });
  return operands;
}

/// Returns true if the kernel may write the memory that the load reads.
static bool isWritten(LoadOp load) {
  PointerBases written;
  load->getParentOfType<KernelOp>().walk([&](Operation *op) { written.join(PointerBases::writtenBy(op)); });
  return PointerBases::of(load.getPtr()).mayOverlap(written);
}

AccessPlan tile::planOperand(LoadOp load, AxisInfoAnalysis &analysis) {
  AccessPlan plan = planAccess(load.getPtr(), analysis);
  int64_t elements = getUnalignedRun(load.getPtr(), plan.order[0], analysis);
  // Aligned chunks also contain elements of neighbouring rows. A volatile load must not read these, and other CTAs may
  // write them.
  if (elements > plan.vector && !load.getIsVolatile() && !isWritten(load)) {
    load.setUnaligned(true);
    plan.vector = elements;
  }
  return plan;
}

bool tile::takesSectors(const LinearLayout &layout, const AccessPlan &plan, const AxisInfo &info, unsigned bytes) {
  constexpr unsigned sectorBytes = 32;
  unsigned dim = plan.order.front();
  std::vector<uint64_t> registers = layout.flatBases(layout::registerDim), lanes = layout.flatBases(layout::laneDim);
  bool isVector = true;
  for (unsigned step = 1; step * bytes < sectorBytes; step *= 2) {
    std::vector<int32_t> place(layout.rank(), 0);
    place[dim] = static_cast<int32_t>(step);
    uint64_t flat = layout.flatten(place);
    isVector = isVector && step < plan.vector && llvm::is_contained(registers, flat);
    if (!isVector && !llvm::is_contained(lanes, flat))
      return false;
  }
  return info.getContiguity(dim) * bytes >= sectorBytes;
}

bool tile::isNear(Operation *access, const AccessPlan &plan, int64_t vector, AddressSpans &spans) {
  const int64_t near = target::tunedOf(cta::getTarget(access)).nearbyBytes;
  if (!isa<LoadOp>(access))
    return false;
  if (plan.stepBytes * vector * layout::lanesPerWarp <= double(near))
    return true;
  std::optional<uint64_t> span = spans.getBytes(access->getOperand(0));
  return span && *span <= uint64_t(near);
}

unsigned tile::depthOf(Operation *op) {
  unsigned depth = 0;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    depth += isa<LoopLikeOpInterface>(parent);
  return depth;
}

bool tile::decidesBefore(const std::pair<Operation *, AccessPlan> &a, const std::pair<Operation *, AccessPlan> &b) {
  auto rank = [](const std::pair<Operation *, AccessPlan> &access) {
    const AccessPlan &plan = access.second;
    return std::tuple(plan.isFull, depthOf(access.first), plan.isFull ? -plan.vector : plan.vector);
  };
  return rank(a) > rank(b);
}

LinearLayout tile::repeatForWarps(const LinearLayout &layout, unsigned numWarps) {
  std::vector<layout::InDim> dims = layout.inDims();
  for (layout::InDim &dim : dims)
    if (dim.name == layout::warpDim)
      dim.bases.assign(llvm::Log2_32(numWarps), std::vector<int32_t>(layout.rank(), 0));
  return LinearLayout(dims, layout.outShape());
}

LinearLayout tile::planAtomic(Operation *op, AxisInfoAnalysis &axisInfo, unsigned numWarps,
                              const target::GpuTarget &gpu) {
  Value pointer = op->getOperand(0);
  AccessPlan plan = planAccess(pointer, axisInfo);
  auto type = cast<RankedTensorType>(pointer.getType());
  Type element = cast<PtrType>(type.getElementType()).getPointee();
  auto rmw = dyn_cast<AtomicRmwOp>(op);
  bool addsFloats = rmw && rmw.getKind() == AtomicKind::add && isa<FloatType>(element);
  int64_t most = addsFloats ? gpu.atomicAdditions(element.getIntOrFloatBitWidth(), element.isBF16()) : 1;
  plan.vector = std::min(plan.vector, most);
  return plan.getLayout(type.getShape(), numWarps);
}

LinearLayout tile::planPacked(ArrayRef<int64_t> shape, int64_t pack, unsigned numWarps) {
  layout::BlockedTile tile{std::vector<int64_t>(shape.size(), 1), std::vector<int64_t>(shape.size(), 1),
                           std::vector<int64_t>(shape.size(), 1), layout::rowMajorOrder(shape.size())};
  int64_t lanes = layout::lanesPerWarp, warps = numWarps;
  for (unsigned dim : tile.order) {
    tile.sizePerThread[dim] = std::min(pack, shape[dim]);
    pack /= tile.sizePerThread[dim];
    int64_t left = shape[dim] / tile.sizePerThread[dim];
    tile.threadsPerWarp[dim] = std::min(lanes, left);
    tile.warpsPerCta[dim] = std::min(warps, left / tile.threadsPerWarp[dim]);
    lanes /= tile.threadsPerWarp[dim];
    warps /= tile.warpsPerCta[dim];
  }
  tile.threadsPerWarp[tile.order.back()] *= lanes;
  tile.warpsPerCta[tile.order.back()] *= warps;
  return layout::blocked(shape.vec(), tile);
}

LinearLayout tile::planStridedScan(RankedTensorType type, KernelOp kernel) {
  const int64_t fewElements = target::tunedOf(cta::getTarget(kernel)).laneScanElements;
  int64_t elements = type.getNumElements();
  if (elements > fewElements * layout::lanesPerWarp || elements < layout::lanesPerWarp)
    return planScan(type, /*axis=*/0, kernel);
  return repeatForWarps(layout::blocked({elements}, {{1}, {layout::lanesPerWarp}, {1}, {0}}), kernel.getNumWarps());
}

LinearLayout tile::planScan(RankedTensorType type, unsigned axis, KernelOp kernel) {
  const unsigned numWarps = kernel.getNumWarps();
  std::vector<int64_t> shape = type.getShape().vec();
  int64_t others = type.getNumElements() / shape[axis];
  int64_t needed = std::max<int64_t>(1, layout::lanesPerWarp * numWarps / others);
  int64_t lanes = std::min({needed, shape[axis], layout::lanesPerWarp});
  const int64_t fewElements = target::tunedOf(cta::getTarget(kernel)).warpScanElements;
  int64_t warps = std::clamp<int64_t>(shape[axis] / (lanes * fewElements), 1, std::max<int64_t>(needed / lanes, 1));
  layout::BlockedTile tile{std::vector<int64_t>(shape.size(), 1), std::vector<int64_t>(shape.size(), 1),
                           std::vector<int64_t>(shape.size(), 1), layout::rowMajorOrder(shape.size())};
  std::erase(tile.order, axis);
  tile.order.insert(tile.order.begin(), axis);
  tile.sizePerThread[axis] = shape[axis] / (lanes * warps);
  tile.threadsPerWarp[axis] = lanes;
  tile.warpsPerCta[axis] = warps;
  int64_t freeLanes = layout::lanesPerWarp / lanes, freeWarps = numWarps / warps;
  for (unsigned dim : ArrayRef(tile.order).drop_front()) {
    tile.threadsPerWarp[dim] = std::min(freeLanes, shape[dim]);
    freeLanes /= tile.threadsPerWarp[dim];
    tile.warpsPerCta[dim] = std::min(freeWarps, shape[dim] / tile.threadsPerWarp[dim]);
    freeWarps /= tile.warpsPerCta[dim];
  }
  // Lanes and warps beyond the shape hold copies.
  unsigned last = tile.order.back();
  tile.threadsPerWarp[last] *= freeLanes;
  tile.warpsPerCta[last] *= freeWarps;
  return layout::blocked(shape, tile);
}
