// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification and effects of global-memory operations.
#include "Tile/MemoryOps.h"

#include "Tile/TileDialect.h"

using namespace mlir;
using namespace tile;

static ArrayRef<int64_t> shapeOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getShape();
  return {};
}

LogicalResult AddPtrOp::verify() {
  Type pointer = getPtr().getType(), offset = getOffset().getType();
  if (isa<RankedTensorType>(pointer) != isa<RankedTensorType>(offset) || shapeOf(pointer) != shapeOf(offset))
    return emitOpError() << "offset is " << offset << " but the pointer is " << pointer << "; their shapes must agree";
  return success();
}

LogicalResult tile::verifyVector(Operation *op, int64_t vector) {
  if (vector >= 1 && vector <= 16 && llvm::isPowerOf2_64(vector))
    return success();
  return op->emitOpError() << "vector is " << vector << " but must be a power of two from 1 to 16";
}

void LoadOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
  // Volatile loads, and loops that poll memory by volatile loads, must not be merged or dropped.
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask())
    return emitOpError() << "has a value for masked-out elements but no mask";
  if (llvm::is_contained({CacheModifier::wb, CacheModifier::wt}, getCache()))
    return emitOpError() << "cache operator '" << stringifyCacheModifier(getCache())
                         << "' is for stores; loads take ca, cg, cs or cv";
  return verifyVector(*this, getVector());
}

LogicalResult StoreOp::verify() {
  if (llvm::is_contained({CacheModifier::ca, CacheModifier::cv}, getCache()))
    return emitOpError() << "cache operator '" << stringifyCacheModifier(getCache())
                         << "' is for loads; stores take wb, cg, cs or wt";
  return verifyVector(*this, getVector());
}

LogicalResult MakeDescOp::verify() {
  DescType type = getResult().getType();
  size_t rank = type.getShape().size();
  if (getShape().size() != rank || getStrides().size() != rank)
    return emitOpError() << "has " << getShape().size() << " sizes and " << getStrides().size()
                         << " strides but the block has rank " << rank;
  if (getNeeded() && !getPlace())
    return emitOpError() << "has a condition but no memory for a tensor map";
  if (getBase().getType().getPointee() != type.getElementType())
    return emitOpError() << "base points to " << getBase().getType().getPointee()
                         << " but the descriptor's elements are " << type.getElementType();
  int64_t bytes = type.getShape().back() * getBytesInMemory(type.getElementType());
  if (bytes < 16)
    return emitOpError() << "innermost block dimension has " << bytes << " bytes; TMA needs at least 16";
  return success();
}

LogicalResult CreateTensorMapOp::verify() {
  size_t rank = getBlock().size();
  if (rank < 1 || rank > 2 || getShape().size() != rank)
    return emitOpError() << "has " << getShape().size() << " sizes and a block of rank " << rank
                         << "; expected a vector or matrix";
  constexpr int64_t maxElements = 1 << 20; // of a block; this is the limit for tensors in programs
  for (int64_t elements = 1; int64_t size : getBlock()) {
    if (size < 1 || size > maxElements / elements)
      return emitOpError() << "has a block with a size of " << size << "; expected 1 to " << maxElements << " elements";
    elements *= size;
  }
  return success();
}

static LogicalResult verifyBlock(Operation *op, DescType desc, size_t offsets, RankedTensorType block) {
  if (offsets != desc.getShape().size())
    return op->emitOpError() << "has " << offsets << " offsets but the descriptor has rank " << desc.getShape().size();
  bool hasShape = block.getShape() == desc.getShape() || block.getShape() == ArrayRef(getPaddedShape(desc.getShape()));
  if (!hasShape || block.getElementType() != desc.getElementType())
    return op->emitOpError() << "block is " << RankedTensorType::get(block.getShape(), block.getElementType())
                             << " but the descriptor is " << desc;
  return success();
}

LogicalResult DescLoadOp::verify() {
  return verifyBlock(*this, getDesc().getType(), getOffsets().size(), getResult().getType());
}

/// Accepts the kinds of tile.atomic_rmw except xchg.
static LogicalResult verifyReduction(DescStoreOp op, AtomicKind kind) {
  Type element = op.getDesc().getType().getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  bool fits = kind != AtomicKind::xchg && (bits == 32 || bits == 64);
  if (kind == AtomicKind::fmax || kind == AtomicKind::fmin)
    fits = element.isF16() || element.isBF16();
  else if (isa<FloatType>(element))
    fits = kind == AtomicKind::add && bits >= 16;
  if (fits)
    return success();
  return op.emitOpError() << "cannot reduce " << element << " by '" << stringifyAtomicKind(kind) << "'";
}

LogicalResult DescStoreOp::verify() {
  if (std::optional<AtomicKind> kind = getReduce(); kind && failed(verifyReduction(*this, *kind)))
    return failure();
  return verifyBlock(*this, getDesc().getType(), getOffsets().size(), getValue().getType());
}
