// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-lower-conversions: lower data movement between threads to shared memory.
//
// A conversion that moves elements between threads becomes a store to a buffer without bank conflicts and a load from
// it, by ldmatrix for mma.sync operands. A reduction whose axis is spread over warps takes two steps: each warp reduces
// its own elements, then the partial results, one per warp, pass through a buffer to every warp and are reduced again.
// Independent reductions, such as two sums of a row, exchange their partial results together, with one barrier. A scan
// over warps also takes two steps: each warp's last element is passed to the warps after it.
//
//   %y = cta.convert_layout %x : #a -> #b   ==>   cta.local_store %x, %buffer; %y = cta.local_load %buffer : #b
//
// Values that are available at the same time are all written before the first one is read, with one barrier. If another
// buffer fits, a loop-invariant value is converted before the loop, or only stored there if it takes many registers.
// Loaded values are written before pending loads would fill more than half of a thread's registers.
//
// A conversion that only renames registers is not lowered, and neither is the conversion of a vector that takes one
// shuffle per register. A gather becomes a store to a buffer and a load at computed offsets, as does a butterfly
// between warps. A histogram becomes atomic additions in a buffer. Results that only one thread computes (atomic
// operations, inline PTX with side effects) reach other threads in the same way.
#include "Analysis/Flow/Recreate.h"
#include "Analysis/Programs/RolePlan.h"
#include "Cta/CtaDialect.h"
#include "Layout/ConversionBuffer.h"
#include "Layout/Factories.h"
#include "Layout/Movement.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Target/Tuned.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_CTALOWERCONVERSIONS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

/// Returns true if the conversion needs shared memory, not just shuffles.
bool movesThroughMemory(cta::ConvertLayoutOp convert) {
  const LinearLayout &src = cta::getLayout(convert.getSrc().getType()), &dst = cta::getLayout(convert.getType());
  layout::MovementKind kind = layout::planMovement(src, dst).kind;
  bool moves = kind == layout::MovementKind::lanes || kind == layout::MovementKind::shared;
  return moves && !layout::movesByShuffles(src, dst, getBytesInMemory(getElementTypeOf(convert.getType())));
}

/// Returns the outermost loop around an operation in which `value` is invariant.
Operation *findInvariantLoop(Operation *op, Value value) {
  Operation *found = nullptr;
  for (Operation *parent = op->getParentOp(); !isa<KernelOp>(parent); parent = parent->getParentOp())
    if (auto loop = dyn_cast<LoopLikeOpInterface>(parent)) {
      if (!loop.isDefinedOutsideOfLoop(value))
        break;
      found = parent;
    }
  return found;
}

/// Returns true if there is room for `bytes` more. Either all buffers fit in the target's shared memory (capped to what
/// most targets have) without sharing memory, or the buffers that the loop uses fit in a third of a multiprocessor's
/// shared memory, since others may share their memory. `scope` is a loop, or the kernel.
bool hasRoom(Operation *scope, int64_t bytes) {
  const target::GpuTarget &gpu = cta::getTarget(scope);
  const target::Tuned &tuned = target::tunedOf(gpu);
  const int64_t room = std::min(tuned.conversionBytesOfKernel, int64_t(gpu.maxSharedPerCta)),
                third = std::min(tuned.conversionBytesOfLoop, int64_t(gpu.sharedPerSm / 3));
  int64_t all = bytes, ofLoop = bytes;
  auto kernel = isa<KernelOp>(scope) ? cast<KernelOp>(scope) : scope->getParentOfType<KernelOp>();
  kernel.walk([&](cta::AllocOp alloc) {
    bool isUsed = llvm::any_of(alloc->getUsers(), [&](Operation *user) { return scope->isAncestor(user); });
    all += alloc.getType().getBytes();
    ofLoop += isUsed ? alloc.getType().getBytes() : 0;
  });
  return all <= room || ofLoop <= third;
}

/// Conversions that are all written before the first one is read, with one barrier for all.
class ConversionGroup {
public:
  explicit ConversionGroup(KernelOp kernel)
      : most(target::tunedOf(cta::getTarget(kernel)).conversionBytesOfThread * layout::lanesPerWarp *
             kernel.getNumWarps()) {}

  /// Returns the operation before which `value`, which is read at `place`, can be written with the group: the group's
  /// first read. Returns null if `value` is not available there, or if the buffers are not small.
  Operation *findWrite(Value value, int64_t bytes, Operation *place) const {
    if (!firstRead || firstRead->getBlock() != place->getBlock() || held + bytes > most)
      return nullptr;
    Operation *def = value.getDefiningOp();
    bool isAvailable = !def || def->getBlock() != place->getBlock() || def->isBeforeInBlock(firstRead);
    return isAvailable ? firstRead : nullptr;
  }

  /// Records a conversion that begins a group or has joined it.
  void add(Operation *read, int64_t bytes, bool joins) {
    held = joins ? held + bytes : bytes;
    firstRead = joins ? firstRead : read;
  }

private:
  int64_t most, held = 0;
  Operation *firstRead = nullptr;
};

/// If pending loads would fill half of a thread's registers between the load of `value` and `read`, returns the load
/// before which `value` should be written; otherwise returns null.
Operation *findLoadTooMany(Value value, Operation *read) {
  const int64_t maxRegisters = target::tunedOf(cta::getTarget(read)).pendingLoadRegisters;
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || load->getBlock() != read->getBlock())
    return nullptr;
  int64_t registers = countRegisters(load.getResult());
  for (Operation *op = load->getNextNode(); op != read; op = op->getNextNode())
    if (auto other = dyn_cast<LoadOp>(op); other && (registers += countRegisters(other.getResult())) > maxRegisters)
      return other;
  return nullptr;
}

Value storeToBuffer(OpBuilder &builder, Location loc, Value value, const LinearLayout &layout, bool onlyFirst) {
  auto tensor = cast<RankedTensorType>(value.getType());
  auto type = cta::BufferType::get(tensor.getContext(), tensor.getShape(), tensor.getElementType(),
                                   cta::LayoutAttr::get(tensor.getContext(), layout), /*slots=*/1);
  Value buffer = cta::AllocOp::create(builder, loc, type, /*offset=*/IntegerAttr());
  cta::LocalStoreOp::create(builder, loc, value, buffer, onlyFirst);
  return buffer;
}

void lowerConversion(cta::ConvertLayoutOp convert, ConversionGroup &group) {
  const int64_t maxKept = target::tunedOf(cta::getTarget(convert)).keptConversionBytes;
  RankedTensorType src = convert.getSrc().getType(), dst = convert.getType();
  OpBuilder builder(convert);
  int64_t bytes = getBytesInMemory(src.getElementType()), allBytes = src.getNumElements() * bytes;
  bool isKept = cta::getLayout(dst).numRegisters() * bytes <= maxKept;
  Operation *loop = findInvariantLoop(convert, convert.getSrc());
  auto kernel = convert->getParentOfType<KernelOp>();
  bool isBefore = loop && (isKept || hasRoom(loop, allBytes));
  Operation *tooMany = isBefore || !hasRoom(kernel, allBytes) ? nullptr : findLoadTooMany(convert.getSrc(), convert);
  Operation *firstRead = isBefore || tooMany ? nullptr : group.findWrite(convert.getSrc(), allBytes, convert);
  if (isBefore || tooMany || firstRead)
    builder.setInsertionPoint(isBefore ? loop : tooMany ? tooMany : firstRead);
  LinearLayout layout = layout::conversionBuffer(cta::getLayout(src), cta::getLayout(dst), bytes);
  Value buffer = storeToBuffer(builder, convert.getLoc(), convert.getSrc(), layout, /*onlyFirst=*/false);
  if (!isKept || tooMany || firstRead)
    builder.setInsertionPoint(convert);
  Value loaded = cta::LocalLoadOp::create(builder, convert.getLoc(), dst, buffer, /*start=*/{});
  group.add(loaded.getDefiningOp(), allBytes, /*joins=*/firstRead);
  convert.replaceAllUsesWith(loaded);
  convert.erase();
}

/// The layout of one partial result per group of warps that share the axis; log2 of the number of groups.
struct WarpGroups {
  LinearLayout layout;
  unsigned bits = 0;
};

/// Returns nullopt if each warp holds all of the axis.
std::optional<WarpGroups> findWarpGroups(const LinearLayout &layout, unsigned axis) {
  std::vector<layout::InDim> dims = layout.inDims();
  std::vector<int64_t> shape = layout.outShape();
  unsigned groups = 0;
  for (layout::InDim &dim : dims)
    for (std::vector<int32_t> &basis : dim.bases) {
      bool isWarp = dim.name == layout::warpDim;
      // Partial results are indexed by the warp bits that move along the axis, in order.
      basis[axis] = isWarp && basis[axis] != 0 ? 1 << groups++ : 0;
    }
  if (groups == 0)
    return std::nullopt;
  shape[axis] = int64_t(1) << groups;
  return WarpGroups{layout::dropDuplicateRegisters(LinearLayout(dims, shape)), groups};
}

/// Returns the layout in which threads combine the values of all groups: the low registers hold at most
/// `maxInRegisters` bits of the group index. If possible, the other bits are in lanes that only held copies.
LinearLayout gatherWarpGroups(const WarpGroups &groups, unsigned axis, unsigned maxInRegisters) {
  std::vector<layout::InDim> gatheredDims = groups.layout.inDims();
  for (layout::InDim &dim : gatheredDims)
    for (std::vector<int32_t> &basis : dim.bases)
      basis[axis] = 0;
  layout::Bases &registers = gatheredDims.front().bases;
  unsigned left = groups.bits;
  auto nextBasis = [&] {
    std::vector<int32_t> basis(groups.layout.rank(), 0);
    basis[axis] = 1 << --left;
    return basis;
  };
  for (layout::InDim &dim : gatheredDims)
    if (dim.name == layout::laneDim)
      for (std::vector<int32_t> &basis : dim.bases)
        if (left > maxInRegisters && llvm::all_of(basis, [](int32_t step) { return step == 0; }))
          basis = nextBasis();
  while (left > 0)
    registers.insert(registers.begin(), nextBasis());
  return LinearLayout(gatheredDims, groups.layout.outShape());
}

/// The layout of partial results, one for each group of warps, and the layout in which they are reduced again.
struct ReductionPlan {
  LinearLayout partial;
  LinearLayout gathered;
};

/// Returns nullopt if each warp holds all of the axis.
std::optional<ReductionPlan> planReduction(const LinearLayout &layout, unsigned axis, Block &combine) {
  std::optional<WarpGroups> groups = findWarpGroups(layout, axis);
  if (!groups)
    return std::nullopt;
  // With many warps, all partial results could take more registers than there are, and each thread would combine all of
  // them. Lanes combine once per bit, which is cheaper if combining takes more than a few operations, as in Welford's
  // algorithm.
  const size_t few = target::tunedOf(cta::getTarget(combine.getParentOp())).cheapCombineOperations;
  unsigned maxInRegisters = combine.getOperations().size() > few ? 2 : 3;
  return ReductionPlan{groups->layout, gatherWarpGroups(*groups, axis, maxInRegisters)};
}

/// A reduction over warps, and the values between its two steps.
struct SplitReduction {
  ReduceOp reduce;
  ReductionPlan plan;
  SmallVector<Value> partial, gathered;
};

RankedTensorType typeIn(const LinearLayout &layout, Value like) {
  return RankedTensorType::get(layout.outShape(), getElementTypeOf(like.getType()),
                               cta::LayoutAttr::get(like.getContext(), layout));
}

void reduceInWarps(SplitReduction &split, OpBuilder &builder) {
  ReduceOp reduce = split.reduce;
  SmallVector<Type> types;
  for (Value src : reduce.getSrcs())
    types.push_back(typeIn(split.plan.partial, src));
  auto partial = cta::PartialReduceOp::create(builder, reduce.getLoc(), types, reduce.getSrcs(), reduce.getAxis());
  IRMapping mapping;
  reduce.getCombine().cloneInto(&partial.getCombine(), mapping);
  llvm::append_range(split.partial, partial.getResults());
}

Value storePartial(OpBuilder &builder, Location loc, Value partial, const LinearLayout &gathered) {
  const LinearLayout &layout = cta::getLayout(partial.getType());
  unsigned bytes = getBytesInMemory(getElementTypeOf(partial.getType()));
  return storeToBuffer(builder, loc, partial, layout::bankConflictFree(layout, gathered, bytes), /*onlyFirst=*/false);
}

/// Emits all writes, then all reads, with one barrier in between.
void exchangePartials(MutableArrayRef<SplitReduction> splits, OpBuilder &builder) {
  SmallVector<Value> buffers;
  for (SplitReduction &split : splits)
    for (Value partial : split.partial)
      buffers.push_back(storePartial(builder, split.reduce.getLoc(), partial, split.plan.gathered));
  auto buffer = buffers.begin();
  for (SplitReduction &split : splits)
    for (Value partial : split.partial)
      split.gathered.push_back(cta::LocalLoadOp::create(builder, split.reduce.getLoc(),
                                                        typeIn(split.plan.gathered, partial), *buffer++, /*start=*/{}));
}

void reduceGathered(SplitReduction &split, OpBuilder &builder) {
  ReduceOp reduce = split.reduce;
  SmallVector<Type> types;
  for (Value result : reduce.getResults())
    types.push_back(isa<RankedTensorType>(result.getType())
                        ? typeIn(layout::removeDim(split.plan.gathered, reduce.getAxis()), result)
                        : result.getType());
  auto final = ReduceOp::create(builder, reduce.getLoc(), types, split.gathered, reduce.getAxis());
  final.getCombine().takeBody(reduce.getCombine());
  for (auto [old, value] : llvm::zip(reduce.getResults(), final.getResults())) {
    Value replacement = value;
    if (old.getType() != value.getType())
      replacement = cta::ConvertLayoutOp::create(builder, reduce.getLoc(), old.getType(), value);
    old.replaceAllUsesWith(replacement);
  }
}

/// Moves a reduction and the computation of its operands up to the reductions of `group`. Returns false if it depends
/// on one of these, or on an operation with side effects after the first of them.
bool joinGroup(ReduceOp reduce, ArrayRef<SplitReduction> group) {
  Operation *place = group.front().reduce;
  if (reduce->getBlock() != place->getBlock())
    return false;
  auto isMember = [&](Operation *op) {
    return llvm::any_of(group, [&](const SplitReduction &split) { return split.reduce == op; });
  };
  llvm::SetVector<Operation *> slice;
  slice.insert(reduce);
  for (size_t index = 0; index < slice.size(); ++index) {
    if (!isMemoryEffectFree(slice[index]))
      return false;
    llvm::SetVector<Value> operands;
    slice[index]->walk([&](Operation *inner) { operands.insert_range(inner->getOperands()); });
    for (Value operand : operands) {
      Operation *def = operand.getDefiningOp();
      if (!def || def->getBlock() != place->getBlock())
        continue;
      if (isMember(def)) // the members of the group are already before its first operation
        return false;
      if (!def->isBeforeInBlock(place))
        slice.insert(def);
    }
  }
  SmallVector<Operation *> ordered = slice.takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *member : ordered)
    member->moveBefore(place);
  return true;
}

/// Splits reductions over warps, grouping those that can exchange their partial results together.
void splitReductions(ArrayRef<ReduceOp> reductions) {
  std::vector<std::vector<SplitReduction>> groups;
  for (ReduceOp reduce : reductions) {
    auto plan = planReduction(cta::getLayout(reduce.getSrcs().front().getType()), reduce.getAxis(),
                              reduce.getCombine().front());
    if (!plan)
      continue;
    if (groups.empty() || !joinGroup(reduce, groups.back()))
      groups.emplace_back();
    groups.back().push_back({reduce, *plan, {}, {}});
  }
  for (std::vector<SplitReduction> &group : groups) {
    OpBuilder builder(group.front().reduce);
    for (SplitReduction &split : group)
      reduceInWarps(split, builder);
    exchangePartials(group, builder);
    for (SplitReduction &split : group)
      reduceGathered(split, builder);
    for (SplitReduction &split : group)
      split.reduce.erase();
  }
}

/// Splits a scan over warps: each warp adds the totals of all preceding warps to its own scan.
void splitScan(ScanOp scan) {
  unsigned axis = scan.getAxis();
  std::optional<WarpGroups> groups = findWarpGroups(cta::getLayout(scan.getSrcs().front().getType()), axis);
  if (!groups)
    return;
  OpBuilder builder(scan);
  Location loc = scan.getLoc();
  SmallVector<Type> types(scan.getResultTypes());
  for (Value src : scan.getSrcs())
    types.push_back(typeIn(groups->layout, src));
  auto partial = cta::PartialScanOp::create(builder, loc, types, scan.getSrcs(), axis, scan.getReverse());
  IRMapping mapping;
  scan.getCombine().cloneInto(&partial.getCombine(), mapping);
  LinearLayout gathered = gatherWarpGroups(*groups, axis, /*maxInRegisters=*/groups->bits);
  SmallVector<Value> buffers, operands(partial.getScans());
  for (Value total : partial.getTotals())
    buffers.push_back(storePartial(builder, loc, total, gathered));
  for (auto [total, buffer] : llvm::zip(partial.getTotals(), buffers))
    operands.push_back(cta::LocalLoadOp::create(builder, loc, typeIn(gathered, total), buffer, /*start=*/{}));
  auto carry = cta::ScanCarryOp::create(builder, loc, scan.getResultTypes(), operands, axis, scan.getReverse());
  carry.getCombine().takeBody(scan.getCombine());
  scan.replaceAllUsesWith(carry.getResults());
  scan.erase();
}

/// Row-major buffers of gather sources, by the block in which they are stored.
using GatherBuffers = DenseMap<std::pair<Value, Block *>, Value>;

/// Replaces a gather by loads from a buffer. A loop-invariant source is stored before the loop, once for all gathers in
/// the loop, if there is room.
void lowerGather(GatherOp gather, GatherBuffers &buffers) {
  OpBuilder builder(gather);
  RankedTensorType type = gather.getSrc().getType();
  Operation *loop = findInvariantLoop(gather, gather.getSrc());
  if (loop && hasRoom(loop, LayoutSlicer::bytesOf(gather.getSrc())))
    builder.setInsertionPoint(loop);
  Value &buffer = buffers[{gather.getSrc(), builder.getInsertionBlock()}];
  if (!buffer) {
    LinearLayout rowMajor = layout::unswizzledShared(type.getShape().vec(), layout::rowMajorOrder(type.getRank()));
    buffer = storeToBuffer(builder, gather.getLoc(), gather.getSrc(), rowMajor, /*onlyFirst=*/false);
  }
  builder.setInsertionPoint(gather);
  gather.replaceAllUsesWith(cta::LocalGatherOp::create(builder, gather.getLoc(), gather.getType(), buffer,
                                                       gather.getIndices(), gather.getAxis())
                                .getResult());
  gather.erase();
}

/// Emits, for each element, its coordinate along `axis` XOR `bits`.
Value partnerPositions(OpBuilder &builder, Location loc, RankedTensorType type, unsigned axis, int64_t bits) {
  const LinearLayout &layout = cta::getLayout(type);
  LinearLayout along = layout;
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
    if (dim != axis)
      along = layout::dropDuplicateRegisters(layout::projectDim(along, dim));
  auto typeIn = [&](const LinearLayout &layout) {
    return RankedTensorType::get(layout.outShape(), builder.getI32Type(),
                                 cta::LayoutAttr::get(builder.getContext(), layout));
  };
  RankedTensorType vector = typeIn(along);
  Value positions = ArangeOp::create(builder, loc, vector, 0, type.getDimSize(axis));
  auto difference = DenseElementsAttr::get(vector, APInt(32, bits));
  positions = arith::XOrIOp::create(builder, loc, positions, arith::ConstantOp::create(builder, loc, difference));
  if (type.getRank() == 1)
    return positions;
  std::vector<int64_t> shape(type.getRank(), 1);
  shape[axis] = type.getDimSize(axis);
  positions = ReshapeOp::create(builder, loc, typeIn(layout::reshape(along, shape)), positions);
  return BroadcastOp::create(builder, loc, typeIn(layout), positions);
}

/// Replaces a butterfly between warps by a gather; returns null for one within warps, where shuffles suffice.
GatherOp gatherBetweenWarps(ButterflyOp butterfly) {
  unsigned axis = butterfly.getAxis();
  int64_t distance = butterfly.getDistance();
  if (layout::findDistance(cta::getLayout(butterfly.getSrc().getType()), axis, distance).warps == 0)
    return {};
  OpBuilder builder(butterfly);
  Value positions = partnerPositions(builder, butterfly.getLoc(), butterfly.getType(), axis, distance);
  auto gather = GatherOp::create(builder, butterfly.getLoc(), butterfly.getType(), butterfly.getSrc(), positions, axis);
  butterfly.replaceAllUsesWith(gather.getResult());
  butterfly.erase();
  return gather;
}

void lowerHistogram(HistogramOp histogram) {
  OpBuilder builder(histogram);
  Location loc = histogram.getLoc();
  RankedTensorType type = histogram.getResult().getType();
  LinearLayout rowMajor = layout::unswizzledShared(type.getShape().vec(), layout::rowMajorOrder(1));
  Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value counts = storeToBuffer(builder, loc, zeros, rowMajor, /*onlyFirst=*/false);
  cta::LocalCountOp::create(builder, loc, histogram.getSrc(), counts, histogram.getMask());
  histogram.replaceAllUsesWith(cta::LocalLoadOp::create(builder, loc, type, counts, /*start=*/{}).getResult());
  histogram.erase();
}

/// Broadcasts a result that one thread computes for each element to all threads that hold the element.
void shareResult(OpResult result) {
  auto type = dyn_cast<RankedTensorType>(result.getType());
  if (!type || result.use_empty() || cta::getLayout(type).isInjective())
    return;
  OpBuilder builder(result.getContext());
  builder.setInsertionPointAfterValue(result);
  std::vector<int64_t> shape = type.getShape().vec();
  LinearLayout rowMajor = layout::unswizzledShared(shape, layout::rowMajorOrder(shape.size()));
  Value buffer = storeToBuffer(builder, result.getLoc(), result, rowMajor, /*onlyFirst=*/true);
  Operation *store = buffer.getDefiningOp()->getNextNode();
  Value shared = cta::LocalLoadOp::create(builder, result.getLoc(), type, buffer, /*start=*/{});
  result.replaceAllUsesExcept(shared, store);
}

struct CtaLowerConversions : tile::impl::CtaLowerConversionsBase<CtaLowerConversions> {
  void runOnKernel() override {
    SmallVector<ReduceOp> reductions;
    getOperation().walk([&](ReduceOp reduce) { reductions.push_back(reduce); });
    splitReductions(reductions);

    SmallVector<ScanOp> scans;
    SmallVector<GatherOp> gathers;
    SmallVector<HistogramOp> histograms;
    SmallVector<OpResult> ofOneThread;
    getOperation().walk([&](Operation *op) {
      if (auto scan = dyn_cast<ScanOp>(op))
        scans.push_back(scan);
      auto gather = dyn_cast<GatherOp>(op);
      if (auto butterfly = dyn_cast<ButterflyOp>(op))
        gather = gatherBetweenWarps(butterfly);
      if (gather) {
        gathers.push_back(gather);
        return;
      }
      if (auto histogram = dyn_cast<HistogramOp>(op))
        histograms.push_back(histogram);
      auto text = dyn_cast<InlineAsmOp>(op);
      if (isa<AtomicRmwOp, AtomicCasOp>(op) || (text && !text.getIsPure()))
        llvm::append_range(ofOneThread, op->getResults());
    });
    llvm::for_each(scans, splitScan);
    GatherBuffers buffers;
    for (GatherOp gather : gathers)
      lowerGather(gather, buffers);
    llvm::for_each(histograms, lowerHistogram);
    llvm::for_each(ofOneThread, shareResult);

    SmallVector<cta::ConvertLayoutOp> conversions;
    getOperation().walk([&](cta::ConvertLayoutOp convert) {
      if (movesThroughMemory(convert))
        conversions.push_back(convert);
    });
    ConversionGroup group(getOperation());
    for (cta::ConvertLayoutOp convert : conversions)
      lowerConversion(convert, group);
  }
};

} // namespace
