// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Slices of operations that recompute a value: collection, cost and creation.
//
// Operations with a cta::LayoutInterface and no effects are recreated: splat constants, ranges, splats, element-wise
// and shape operations, loads of short vectors, and gathers, which read shared memory in any layout. Conversions are
// skipped: their operand is recreated instead. Loop-carried values and branch results change their layout, and a
// conversion back serves their previous uses. All other values are leaves, which are converted.
#include "Analysis/Flow/Recreate.h"

#include "Analysis/Flow/CarriedValue.h"
#include "Layout/ShapeTransforms.h"
#include "Target/Tuned.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;

/// The maximum number of operations in a slice. Recomputing more operations is never cheaper than a conversion; the
/// limit also keeps the pass linear in the size of a kernel.
static constexpr size_t maxSlice = 512;

int64_t LayoutSlicer::bytesOf(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * getBytesInMemory(type.getElementType());
}

cta::LayoutAttr tile::getOperandLayout(Operation *op, cta::LayoutAttr layout) {
  auto interface = dyn_cast<cta::LayoutInterface>(op);
  bool isPlain = interface && op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op);
  return isPlain ? interface.getOperandLayout(layout) : cta::LayoutAttr();
}

// Recreation in another layout.

static bool isOfFewRegisters(Operation *op, cta::LayoutAttr layout) {
  const int64_t few = target::tunedOf(cta::getTarget(op)).recreatedGatherRegisters;
  return layout::dropDuplicateRegisters(layout.getLayout()).numRegisters() <= few;
}

/// Returns `op` if it is a gather with so few elements per thread that it may be repeated. The gather's source keeps
/// its layout.
static GatherOp getRecreatableGather(Operation *op, cta::LayoutAttr layout) {
  auto gather = dyn_cast_or_null<GatherOp>(op);
  return gather && isOfFewRegisters(gather, layout) ? gather : GatherOp();
}

/// Returns true if all elements are equal, because the value is a scalar or a splat.
static bool isSpread(Value value) {
  Operation *op = value.getDefiningOp();
  return !isa<RankedTensorType>(value.getType()) || isa_and_nonnull<SplatOp>(op) || matchPattern(value, m_Constant());
}

/// Returns true if the elements of a vector of addresses or indices are consecutive: a range plus a scalar.
static bool countsUp(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<ExpandDimsOp, cta::ConvertLayoutOp, arith::ExtSIOp>(op))
    return countsUp(op->getOperand(0));
  if (!isa_and_nonnull<arith::AddIOp, AddPtrOp>(op))
    return isa_and_nonnull<ArangeOp>(op);
  Value lhs = op->getOperand(0), rhs = op->getOperand(1);
  return (isSpread(lhs) && countsUp(rhs)) || (countsUp(lhs) && isSpread(rhs));
}

/// Returns true if one instruction loads a thread's elements of a vector that is contiguous in memory.
static bool isOneAccess(cta::LayoutAttr layout, int64_t elementBytes) {
  constexpr int64_t maxBytes = 16;
  layout::LinearLayout own = layout::dropDuplicateRegisters(layout.getLayout());
  for (auto [bit, step] : llvm::enumerate(own.flatBases(layout::registerDim)))
    if (step != uint64_t(1) << bit)
      return false;
  return own.numRegisters() * elementBytes <= maxBytes;
}

/// Returns true if each thread may load the elements that it requires itself. It may load them from a buffer in shared
/// memory; or from global memory, if they are a few elements of a vector, because L1 is faster than an exchange through
/// shared memory with its barriers. Longer vectors would take registers that other CTAs could use.
bool LayoutSlicer::mayReload(Operation *op, cta::LayoutAttr layout) const {
  if (auto load = dyn_cast_or_null<cta::LocalLoadOp>(op))
    return readsBuffers && !load.getStart();
  auto load = dyn_cast_or_null<LoadOp>(op);
  if (!load || load.getIsVolatile() || load.getCache() == CacheModifier::cv)
    return false;
  auto type = cast<RankedTensorType>(load.getType());
  bool isVector = type.getNumElements() == llvm::max_element(type.getShape())[0];
  int64_t bytes = getBytesInMemory(type.getElementType());
  return isVector && (isOfFewRegisters(load, layout) || (countsUp(load.getPtr()) && isOneAccess(layout, bytes)));
}

/// Returns true if a value is still used in its old layout after the slice is recreated in `layout`, by an operation
/// that does not become dead. Values in `seen` are ignored.
static bool isKept(Value value, cta::LayoutAttr layout, const LayoutSlice &slice, DenseSet<Value> &seen) {
  return seen.insert(value).second && llvm::any_of(value.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (isa<cta::ConvertLayoutOp>(user))
             return false;
           if (std::optional<CarriedValue> fed = CarriedValue::fedBy(use))
             return !slice.recreated.contains({fed->values.front(), layout});
           Value result = user->getNumResults() == 1 ? user->getResult(0) : Value();
           return !result || !slice.recreates(result) || isKept(result, layout, slice, seen);
         });
}

void LayoutSlice::recreate(Value value, cta::LayoutAttr layout) {
  if (recreated.insert({value, layout}))
    ++timesRecreated[value];
}

void LayoutSlice::keepRecreated(size_t count) {
  while (recreated.size() > count)
    --timesRecreated[recreated.pop_back_val().first];
}

size_t LayoutSlice::countComputedTwice() const {
  return llvm::count_if(recreated, [&](auto &entry) {
    DenseSet<Value> seen;
    return !entry.first.template getDefiningOp<cta::ConvertLayoutOp>() &&
           isKept(entry.first, entry.second, *this, seen);
  });
}

namespace {
/// A slice that is being collected.
struct GrowingSlice : LayoutSlice {
  /// Adds the cost of converting a value, unless this cost has already been counted.
  void addLeaf(Value value, cta::LayoutAttr layout) {
    if (leaves.insert({value, layout}).second) {
      paid.push_back({value, layout});
      cost += LayoutSlicer::bytesOf(value);
    }
  }
  /// Removes all but the first `count` leaves; the caller must also restore their costs.
  void keepLeaves(size_t count) {
    while (paid.size() > count)
      leaves.erase(paid.pop_back_val());
  }

  SmallVector<std::pair<Value, cta::LayoutAttr>> paid; ///< The leaves, in the order in which they were added.
  /// Values that cost more to recreate than to convert, whether they are leaves or belong to a part of the slice that
  /// was given up. Their operands are not visited again.
  DenseSet<std::pair<Value, cta::LayoutAttr>> dear;
};
} // namespace

LayoutSlice LayoutSlicer::plan(Value value, cta::LayoutAttr layout, int64_t limit, bool offsets) {
  GrowingSlice slice;
  slice.limit = limit;
  slice.offsets = offsets;
  visit(value, layout, slice);
  return slice;
}

void LayoutSlicer::visit(Value value, cta::LayoutAttr layout, LayoutSlice &slice) {
  if (!isa<RankedTensorType>(value.getType()) || cta::getLayoutAttr(value.getType()) == layout)
    return;
  if (slice.isTooExpensive() || slice.recreated.contains({value, layout}) || slice.leaves.contains({value, layout}))
    return;
  auto &growing = static_cast<GrowingSlice &>(slice); // created by plan()
  if (growing.dear.contains({value, layout})) {
    growing.addLeaf(value, layout);
    return;
  }
  if (slice.recreated.size() >= maxSlice) {
    slice.cost = slice.limit;
    slice.saved = 0;
    return;
  }
  if (std::optional<CarriedValue> carried = CarriedValue::of(value)) {
    visitCarried(*carried, layout, slice);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast_or_null<cta::ConvertLayoutOp>(op)) {
    slice.recreate(value, layout);
    DenseSet<Value> seen;
    if (!isKept(value, layout, slice, seen)) // the conversion becomes unused
      slice.saved += bytesOf(value);
    visit(convert.getSrc(), layout, slice);
    return;
  }
  if (GatherOp gather = getRecreatableGather(op, layout)) {
    slice.recreate(value, layout);
    visit(gather.getIndices(), layout, slice);
    return;
  }
  cta::LayoutAttr operands = mayReload(op, layout) ? layout : op ? getOperandLayout(op, layout) : cta::LayoutAttr();
  if (!operands) {
    slice.cost += bytesOf(value);
    return;
  }
  int64_t costBefore = slice.cost, savedBefore = slice.saved, netBefore = slice.netCost();
  size_t sizeBefore = slice.recreated.size(), leavesBefore = growing.paid.size();
  slice.recreate(value, layout);
  for (Value operand : op->getOperands())
    visit(operand, operands, slice);
  if (slice.netCost() - netBefore <= bytesOf(value))
    return;
  // Recreation does not pay off here; for example, the operand of a conversion to a narrower type has more bytes than
  // the result.
  slice.keepRecreated(sizeBefore);
  growing.keepLeaves(leavesBefore);
  slice.cost = costBefore;
  slice.saved = savedBefore;
  growing.dear.insert({value, layout});
  growing.addLeaf(value, layout);
}

void LayoutSlicer::visitCarried(const CarriedValue &carried, cta::LayoutAttr layout, LayoutSlice &slice) {
  Value first = carried.values.front();
  if (slice.recreated.contains({first, layout}))
    return;
  // A carried value can have only one layout.
  bool conflicts = settled.contains(first) || llvm::any_of(slice.recreated, [&](auto &entry) {
                     return entry.first == first && entry.second != layout;
                   });
  if (conflicts) {
    slice.cost += bytesOf(first);
    return;
  }
  slice.recreate(first, layout);
  // Conversions of the yielded values become dead: a loop's accumulator is then computed in the layout in which it is
  // used.
  for (OpOperand *operand : carried.operands)
    if (auto convert = operand->get().getDefiningOp<cta::ConvertLayoutOp>())
      if (convert->hasOneUse() && cta::getLayoutAttr(convert.getSrc().getType()) == layout &&
          convert->getBlock() == operand->getOwner()->getBlock() && isa<scf::YieldOp>(operand->getOwner()))
        slice.cost -= bytesOf(first);
  for (OpOperand *operand : carried.operands)
    visit(operand->get(), layout, slice);
  // Uses that require the old layout share one conversion. For loop-carried values, this conversion is executed in
  // every iteration; a conversion after a loop would be negligible.
  DenseSet<Value> seen;
  if (isKept(first, layout, slice, seen))
    slice.cost += bytesOf(first);
}

Value LayoutSlicer::rewrite(Value value, cta::LayoutAttr layout, bool offsets) {
  current = plan(value, layout, INT64_MAX, offsets);
  created.clear();
  Value result = create(value, layout);
  // A value that a loop yields may depend on `result`, so the yielded values are created only now.
  while (!pending.empty()) {
    auto [operand, carried] = pending.pop_back_val();
    operand->set(create(operand->get(), carried));
  }
  return result;
}

Value LayoutSlicer::convertLeaf(Value value, cta::LayoutAttr layout) {
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  auto type = cta::withLayout(cast<RankedTensorType>(value.getType()), layout);
  return cta::ConvertLayoutOp::create(builder, value.getLoc(), type, value);
}

Value LayoutSlicer::create(Value value, cta::LayoutAttr layout) {
  if (!isa<RankedTensorType>(value.getType()) || cta::getLayoutAttr(value.getType()) == layout)
    return value;
  auto [entry, inserted] = created.try_emplace({value, layout});
  if (!inserted)
    return entry->second;
  std::optional<CarriedValue> carried = CarriedValue::of(value);
  if (carried && current.recreated.contains({carried->values.front(), layout})) {
    changeCarried(*carried, layout);
    return value;
  }
  Value result = current.recreated.contains({value, layout}) ? recreateIn(value, layout) : convertLeaf(value, layout);
  created[{value, layout}] = result;
  return result;
}

Value LayoutSlicer::recreateIn(Value value, cta::LayoutAttr layout) {
  Operation *op = value.getDefiningOp();
  if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op))
    return create(convert.getSrc(), layout);
  OpBuilder builder(op->getContext());
  if (GatherOp gather = getRecreatableGather(op, layout)) {
    Value indices = create(gather.getIndices(), layout);
    builder.setInsertionPointAfter(op);
    return GatherOp::create(builder, op->getLoc(), cta::withLayout(gather.getType(), layout), gather.getSrc(), indices,
                            gather.getAxis());
  }
  bool isLoad = isa<LoadOp, cta::LocalLoadOp>(op);
  cta::LayoutAttr operandsLayout = isLoad ? layout : getOperandLayout(op, layout);
  // Operands are accessed by index, because creating one of them may replace operands of `op` itself, if a loop-carried
  // value changes its layout.
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(create(op->getOperand(i), operandsLayout));
  builder.setInsertionPointAfter(op);
  auto type = cta::withLayout(cast<RankedTensorType>(value.getType()), layout);
  if (!isLoad)
    return cast<cta::LayoutInterface>(op).recreate(builder, operands, type, /*part=*/{});
  Operation *load = builder.clone(*op);
  load->setOperands(operands);
  load->getResult(0).setType(type);
  if (auto access = dyn_cast<LoadOp>(load)) // the vector width was chosen for the old layout
    access.setVector(1);
  return load->getResult(0);
}

void LayoutSlicer::changeCarried(const CarriedValue &carried, cta::LayoutAttr layout) {
  auto oldType = cast<RankedTensorType>(carried.values.front().getType());
  settled.insert(carried.values.front());
  OpBuilder builder(oldType.getContext());
  for (Value value : carried.values) {
    value.setType(cta::withLayout(oldType, layout));
    builder.setInsertionPointAfterValue(value);
    auto old = cta::ConvertLayoutOp::create(builder, value.getLoc(), oldType, value);
    value.replaceAllUsesExcept(old, old);
    // Clones get the carried value in its old layout through the conversion for the old uses.
    created[{old, layout}] = value;
    current.recreate(old, layout);
  }
  for (OpOperand *operand : carried.operands)
    pending.emplace_back(operand, layout);
}

void tile::eraseIfUnused(ValueRange unused, function_ref<void(Operation *)> note, Block *block) {
  llvm::SetVector<Value> values(unused.begin(), unused.end());
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || op->getNumRegions() != 0 || (block && op->getBlock() != block) || !isOpTriviallyDead(op))
      continue;
    values.insert(op->operand_begin(), op->operand_end());
    for (Value result : op->getResults())
      values.remove(result);
    if (note)
      note(op);
    op->erase();
  }
}

// Recreation of columns.

namespace {

/// Recreates a value in a layout at the builder's insertion point: either the whole value, or only the part that
/// contains the columns.
class ColumnRecreation {
public:
  ColumnRecreation(OpBuilder &builder, int64_t first, int64_t columns)
      : builder(builder), first(first), columns(columns) {}

  /// Creates only the elements from `first` on along the dimension `dim`, or all elements if `dim` is nullopt.
  Value create(Value value, cta::LayoutAttr layout, std::optional<unsigned> dim) {
    if (!isa<RankedTensorType>(value.getType()))
      return value;
    auto key = std::make_tuple(value, layout, dim.value_or(~0u));
    if (Value known = created.lookup(key))
      return known;
    return created[key] = recreateIn(value, layout, dim);
  }

private:
  Value recreateIn(Value value, cta::LayoutAttr layout, std::optional<unsigned> dim) {
    Operation *op = value.getDefiningOp();
    if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op))
      return create(convert.getSrc(), layout, dim);
    auto whole = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(whole.getShape());
    if (dim)
      shape[*dim] = columns;
    auto type = RankedTensorType::get(shape, whole.getElementType(), layout);
    auto interface = cast<cta::LayoutInterface>(op);
    cta::TensorPart part{dim, first};
    cta::LayoutAttr operandsLayout = interface.getOperandLayout(layout);
    std::optional<unsigned> operandsDim = interface.getOperandPart(part)->dim;
    if (auto add = dyn_cast<AddPtrOp>(op))
      return addOffset(create(add.getPtr(), layout, dim), add.getOffset(), interface, type, part);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(create(operand, operandsLayout, operandsDim));
    return interface.recreate(builder, operands, type, part);
  }

  /// Adds the terms of a sum individually, so that the elements of a row share the variable part of their addresses.
  /// The result is the same if the sum does not overflow (see Analysis/Addresses/BlockPointers.h).
  Value addOffset(Value pointer, Value offset, cta::LayoutInterface add, RankedTensorType type, cta::TensorPart part) {
    if (auto sum = offset.getDefiningOp<arith::AddIOp>()) {
      pointer = addOffset(pointer, sum.getLhs(), add, type, part);
      return addOffset(pointer, sum.getRhs(), add, type, part);
    }
    Value term = create(offset, cta::getLayoutAttr(type), part.dim);
    return add.recreate(builder, {pointer, term}, type, part);
  }

  OpBuilder &builder;
  int64_t first, columns;
  DenseMap<std::tuple<Value, cta::LayoutAttr, unsigned>, Value> created;
};

bool canRecreate(Value value, std::optional<unsigned> dim, DenseSet<std::pair<Value, unsigned>> &visited) {
  if (!isa<RankedTensorType>(value.getType()) || !visited.insert({value, dim.value_or(~0u)}).second)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  std::optional<cta::TensorPart> part;
  if (isa<cta::ConvertLayoutOp>(op))
    part = cta::TensorPart{dim};
  else if (getOperandLayout(op, cta::getLayoutAttr(value.getType())))
    part = cast<cta::LayoutInterface>(op).getOperandPart({dim});
  return part &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return canRecreate(operand, part->dim, visited); });
}

} // namespace

bool tile::canRecreateColumns(Value matrix) {
  auto type = dyn_cast<RankedTensorType>(matrix.getType());
  DenseSet<std::pair<Value, unsigned>> visited;
  return !type || canRecreate(matrix, type.getRank() - 1, visited);
}

Value tile::recreateColumns(OpBuilder &builder, Value matrix, int64_t first, int64_t columns, cta::LayoutAttr layout) {
  auto type = dyn_cast<RankedTensorType>(matrix.getType());
  return type ? ColumnRecreation(builder, first, columns).create(matrix, layout, type.getRank() - 1) : matrix;
}
