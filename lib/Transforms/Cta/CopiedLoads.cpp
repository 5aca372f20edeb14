// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads that cp.async can do instead; see CopiedLoads.h.
#include "Transforms/Cta/CopiedLoads.h"

#include "Layout/Factories.h"
#include "Layout/SharedLayouts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// -0.0 has other bits.
static bool isZero(Value value) {
  if (auto splat = value ? value.getDefiningOp<SplatOp>() : SplatOp())
    value = splat.getScalar();
  return !value || matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

bool tile::canBeCopied(LoadOp load) {
  return !load.getIsVolatile() && !load.getPartial() && isZero(load.getOther());
}

unsigned tile::contiguousDimOf(RankedTensorType type) {
  layout::Bases registers = cta::getLayout(type).bases(layout::registerDim);
  if (!registers.empty())
    for (auto [dim, step] : llvm::enumerate(registers.front()))
      if (step == 1)
        return dim;
  return type.getRank() - 1;
}

cta::LayoutAttr tile::planCopyLayout(LoadOp load) {
  auto type = cast<RankedTensorType>(load.getType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  std::vector<unsigned> order = layout::rowMajorOrder(type.getRank());
  if (contiguousDimOf(type) == 0)
    std::reverse(order.begin(), order.end());
  unsigned bytes = getBytesInMemory(type.getElementType());
  return cta::LayoutAttr::get(type.getContext(),
                              layout::swizzledShared(shape, bytes, order, layout::chooseSwizzle(shape, bytes, order)));
}

Value tile::copyToBuffer(LoadOp load, int64_t vector, cta::LayoutAttr layout) {
  OpBuilder builder(load);
  Location loc = load.getLoc();
  auto type = cast<RankedTensorType>(load.getType());
  auto bufferType = cta::BufferType::get(type.getContext(), type.getShape(), type.getElementType(), layout, 1);
  Value buffer = cta::AllocOp::create(builder, loc, bufferType, /*offset=*/IntegerAttr());
  cta::AsyncCopyOp::create(builder, loc, load.getPtr(), buffer, load.getMask(), vector, load.getCache());
  cta::AsyncCommitOp::create(builder, loc);
  cta::AsyncWaitOp::create(builder, loc, 0);
  return buffer;
}
