// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of TMA copies and mbarriers.
#include "Cta/CtaDialect.h"

#include "Target/Limits.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

/// Verifies that the buffer has the shape of the descriptor's block; if it has a lower rank, it omits leading
/// dimensions of size 1. For stores, it may also be a part of the block, with fewer elements along one dimension.
LogicalResult tile::cta::verifyBlock(Operation *op, DescType desc, ValueRange offsets, BufferType buffer,
                                     bool mayBePart) {
  if (buffer.getSlots() != 1)
    return op->emitOpError() << "buffer has " << buffer.getSlots() << " slots; choose one with cta.slot";
  ArrayRef<int64_t> block = desc.getShape(), tile = buffer.getShape();
  if (offsets.size() != block.size())
    return op->emitOpError() << "has " << offsets.size() << " offsets but the descriptor has rank " << block.size();
  while (block.size() > tile.size() && block.front() == 1)
    block = block.drop_front();
  bool fits = tile.size() == block.size() && buffer.getElementType() == desc.getElementType();
  if (fits)
    fits = mayBePart ? llvm::all_of(llvm::zip(tile, block),
                                    [](auto sizes) { return std::get<0>(sizes) <= std::get<1>(sizes); })
                     : tile == block;
  if (!fits)
    return op->emitOpError() << "buffer is " << RankedTensorType::get(tile, buffer.getElementType())
                             << " but the descriptor's block is "
                             << RankedTensorType::get(desc.getShape(), desc.getElementType());
  return success();
}

/// Verifies the descriptor of the last panel, if there is one: it must have the same rows with fewer columns.
static LogicalResult verifyTail(Operation *op, DescType desc, Value tail) {
  if (!tail)
    return success();
  auto type = cast<DescType>(tail.getType());
  bool fits = type.getElementType() == desc.getElementType() && type.getShape().size() == desc.getShape().size() &&
              type.getShape().drop_back() == desc.getShape().drop_back() &&
              type.getShape().back() < desc.getShape().back();
  if (!fits)
    return op->emitOpError() << "tail is " << RankedTensorType::get(type.getShape(), type.getElementType())
                             << " but must have fewer columns than the block "
                             << RankedTensorType::get(desc.getShape(), desc.getElementType())
                             << " and otherwise equal it";
  return success();
}

LogicalResult TmaLoadOp::verify() {
  if (failed(verifyTail(*this, getDesc().getType(), getTail())))
    return failure();
  return verifyBlock(*this, getDesc().getType(), getOffsets(), getBuffer().getType(), /*mayBePart=*/false);
}

LogicalResult TmaLoadSyncOp::verify() {
  if (failed(verifyTail(*this, getDesc().getType(), getTail())))
    return failure();
  if (getBarrier().getType().getSlots() != 1)
    return emitOpError() << "barrier has " << getBarrier().getType().getSlots() << " slots but needs one";
  return verifyBlock(*this, getDesc().getType(), getOffsets(), getBuffer().getType(), /*mayBePart=*/false);
}

bool tile::cta::canReduceByTma(AtomicKind kind, Type element) {
  switch (kind) {
  case AtomicKind::add:
    return element.isInteger(32) || element.isF16() || element.isBF16() || element.isF32();
  case AtomicKind::and_:
  case AtomicKind::or_:
  case AtomicKind::xor_:
    return element.isInteger(32) || element.isInteger(64);
  case AtomicKind::fmax:
  case AtomicKind::fmin:
    return element.isF16() || element.isBF16();
  default:
    return false;
  }
}

LogicalResult TmaStoreOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (std::optional<AtomicKind> kind = getReduce(); kind && !canReduceByTma(*kind, buffer.getElementType()))
    return emitOpError() << "cannot reduce " << buffer.getElementType() << " by '" << stringifyAtomicKind(*kind) << "'";
  int64_t groups = int32_t(getGroups());
  if (groups < 1 || (groups > 1 && !buffer.getPart(groups)))
    return emitOpError() << "gives each of " << groups << " warp groups its part of "
                         << RankedTensorType::get(buffer.getShape(), buffer.getElementType())
                         << ", whose rows or columns must be consecutive in the buffer";
  return verifyBlock(*this, getDesc().getType(), getOffsets(), getBuffer().getType(), /*mayBePart=*/true);
}

LogicalResult MakeTensorMapOp::verify() {
  size_t rank = getResult().getType().getShape().size();
  if (getShape().size() != rank || getStrides().size() != rank || getBox().size() != rank)
    return emitOpError() << "has " << getShape().size() << " sizes, " << getStrides().size() << " strides and a box of "
                         << getBox().size() << " sizes but the descriptor has rank " << rank;
  if (int64_t bytes = getStaging().getType().getBytes(); bytes != tensorMapBytes)
    return emitOpError() << "staging buffer has " << bytes << " bytes but a tensor map has " << tensorMapBytes;
  return success();
}

static_assert(MbarrierType::bytesPerSlot == target::mbarrierBytes);

LogicalResult MbarrierType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots) {
  if (slots < 1)
    return emitError() << "mbarrier ring has " << slots << " slots but needs at least 1";
  if (slots > maxSlots)
    return emitError() << "mbarrier ring has " << slots << " slots; at most " << maxSlots << " are allowed";
  return success();
}

LogicalResult MbarrierAllocOp::verify() {
  if (int32_t(getArrivals()) < 1 || getArrivals() > maxArrivals)
    return emitOpError() << "expects " << int32_t(getArrivals()) << " arrivals; expected 1 to " << maxArrivals;
  constexpr int32_t sharedEnd = 1 << 20; // more than any GPU has
  if (int32_t offset = int32_t(getOffset().value_or(0)); offset < 0 || offset >= sharedEnd)
    return emitOpError() << "is at byte " << offset << " of shared memory; expected 0 to " << sharedEnd - 1;
  return success();
}
