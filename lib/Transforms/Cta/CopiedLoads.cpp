// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads that cp.async can replace; see CopiedLoads.h.
#include "Transforms/Cta/CopiedLoads.h"

#include "Layout/Access.h"
#include "Layout/Factories.h"
#include "Layout/SharedLayouts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// Returns true for +0.0, integer zero and null; the bits of -0.0 are not all zero.
static bool isZero(Value value) {
  if (auto splat = value ? value.getDefiningOp<SplatOp>() : SplatOp())
    value = splat.getScalar();
  return !value || matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

bool tile::canBeCopied(LoadOp load) {
  return !load.getIsVolatile() && !load.getPartial() && !load.getUnaligned() && isZero(load.getOther());
}

unsigned tile::contiguousDimOf(RankedTensorType type) {
  layout::Bases registers = cta::getLayout(type).bases(layout::registerDim);
  if (!registers.empty())
    for (auto [dim, step] : llvm::enumerate(registers.front()))
      if (step == 1)
        return dim;
  return type.getRank() - 1;
}

/// Returns true if reading the buffer in this layout has bank conflicts; ldmatrix reads its rows from different banks.
static bool hasBankConflicts(const layout::LinearLayout &read, const layout::LinearLayout &buffer, unsigned bytes) {
  layout::LinearLayout offsets = layout::memoryOffsets(read, buffer);
  return !layout::planLdmatrix(read, buffer, bytes) &&
         layout::bankConflicts(offsets, bytes, layout::planVectorAccess(offsets, bytes).elements) > 0;
}

/// Returns a buffer layout without bank conflicts that keeps the load's vectors contiguous; nullopt if the elements of
/// a vector are read by several threads.
static std::optional<layout::LinearLayout> planQuietBuffer(LoadOp load, const layout::LinearLayout &read,
                                                           unsigned bytes) {
  const layout::LinearLayout &src = cta::getLayout(load.getType());
  std::vector<uint64_t> vector = src.flatBases(layout::registerDim);
  vector.resize(llvm::Log2_64(load.getVector()));
  layout::LinearLayout vectors = layout::LinearLayout::distributed(vector, src.flatBases(layout::laneDim),
                                                                   src.flatBases(layout::warpDim), src.outShape());
  layout::LinearLayout buffer = layout::bankConflictFree(vectors, read, bytes);
  std::vector<uint64_t> offsets = buffer.flatBases(layout::offsetDim);
  return ArrayRef(offsets).take_front(vector.size()) == ArrayRef(vector) ? std::optional(buffer) : std::nullopt;
}

cta::LayoutAttr tile::planCopyLayout(LoadOp load, RankedTensorType read) {
  auto type = cast<RankedTensorType>(load.getType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  std::vector<unsigned> order = layout::rowMajorOrder(type.getRank());
  if (contiguousDimOf(type) == 0)
    std::reverse(order.begin(), order.end());
  unsigned bytes = getBytesInMemory(type.getElementType());
  layout::LinearLayout buffer = layout::swizzledShared(shape, bytes, order, layout::chooseSwizzle(shape, bytes, order));
  if (read && hasBankConflicts(cta::getLayout(read), buffer, bytes))
    buffer = planQuietBuffer(load, cta::getLayout(read), bytes).value_or(buffer);
  return cta::LayoutAttr::get(type.getContext(), buffer);
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
