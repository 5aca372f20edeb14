// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of cluster operations.
#include "Cta/CtaDialect.h"

#include "Layout/TmaBoxes.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

/// Clusters of up to 8 CTAs are portable (CUDA programming guide, "Thread Block Clusters").
static constexpr int64_t maxCtas = 8;

LogicalResult tile::cta::verifyCtas(Operation *op, int64_t ctas) {
  if (ctas < 2 || ctas > maxCtas || !llvm::isPowerOf2_64(ctas))
    return op->emitOpError() << "is for a cluster of " << ctas << " CTAs; expected 2, 4 or 8";
  return success();
}

LogicalResult TmaMulticastOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (failed(verifyCtas(*this, int32_t(getParts()))) ||
      failed(verifyBlock(*this, getDesc().getType(), getOffsets(), buffer, /*mayBePart=*/false)))
    return failure();
  if (!layout::splitTmaBoxes(buffer.getLayout().getLayout(), getBytesInMemory(buffer.getElementType()), getParts()))
    return emitOpError() << "buffer cannot be split into " << getParts()
                         << " equal parts that TMA can copy separately: " << buffer;
  return success();
}

LogicalResult MbarrierArriveOp::verify() {
  return getCtas() == 1 ? success() : verifyCtas(*this, int32_t(getCtas()));
}

LogicalResult ClusterSumOp::verify() {
  auto value = cast<RankedTensorType>(getValue().getType());
  BufferType buffer = getBuffer().getType();
  if (failed(verifyCtas(*this, int32_t(getCtas()))) || failed(verifyPartial(*this, value)))
    return failure();
  const layout::LinearLayout &layout = getLayout(value);
  int64_t bytes = layout.numRegisters() * layout.numWarps() * target::threadsPerWarp * 4;
  if (buffer.getBytesPerSlot() < bytes || buffer.getSlots() != int64_t(getCtas()) - 1)
    return emitOpError() << "needs " << getCtas() - 1 << " slots of " << bytes << " bytes but the buffer has "
                         << buffer.getSlots() << " of " << buffer.getBytesPerSlot();
  if (getSent().getType().getSlots() != 1)
    return emitOpError() << "needs barriers of one slot";
  return success();
}
