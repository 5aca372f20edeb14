// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recomputes column slices of matrices; see ColumnSlice.h.
#include "Transforms/Cta/ColumnSlice.h"

#include "Analysis/Flow/Recreate.h"
#include "Layout/Movement.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

static cta::LayoutAttr attribute(MLIRContext *context, const LinearLayout &layout) {
  return cta::LayoutAttr::get(context, layout);
}

std::optional<cta::LayoutAttr> tile::sliceLayout(RankedTensorType matrix, int64_t columns) {
  if (matrix.getRank() != 2 || matrix.getDimSize(1) % columns != 0)
    return std::nullopt;
  std::optional<layout::SlicedLayout> sliced = layout::sliceDim(cta::getLayout(matrix), 1, columns);
  return sliced ? std::optional(attribute(matrix.getContext(), sliced->layout)) : std::nullopt;
}

/// Returns true if the elements that a thread accesses at once are consecutive in a row.
static bool runsAlongRows(const LinearLayout &access, int64_t vector) {
  std::vector<std::vector<int32_t>> registers = access.bases(layout::registerDim);
  size_t bits = llvm::Log2_64(vector);
  for (size_t bit = 0; bit < bits; ++bit)
    if (bit == registers.size() || registers[bit][0] != 0 || registers[bit][1] != (1 << bit))
      return false;
  return true;
}

std::optional<LinearLayout> tile::planRowAccess(const LinearLayout &owned, const LinearLayout &access, int64_t vector) {
  std::vector<int64_t> shape = owned.outShape();
  if (vector > shape[1] || !runsAlongRows(access, vector))
    return std::nullopt;
  int64_t rowsOfWarps = 0;
  for (const std::vector<int32_t> &basis : owned.bases(layout::warpDim)) {
    if (basis[0] == 0 || basis[1] != 0 || (basis[0] & (basis[0] - 1)) != 0)
      return std::nullopt;
    rowsOfWarps |= basis[0];
  }
  std::vector<uint64_t> registers, lanes;
  auto place = [&](int64_t row, int64_t column) {
    uint64_t flat = owned.flatten({int32_t(row), int32_t(column)});
    bool isVector = row == 0 && column < vector;
    (isVector || lanes.size() == layout::laneBits ? registers : lanes).push_back(flat);
  };
  for (int64_t column = 1; column < shape[1]; column *= 2)
    place(0, column);
  for (int64_t row = 1; row < shape[0]; row *= 2)
    if (!(rowsOfWarps & row))
      place(row, 0);
  if (lanes.size() != layout::laneBits)
    return std::nullopt;
  return LinearLayout::distributed(registers, lanes, owned.flatBases(layout::warpDim), shape);
}

/// Returns true if any columns of the result can be computed from the same columns of the operand matrices, and from
/// operands that are not sliced.
static bool isComputedByColumns(Operation *op, cta::LayoutAttr layout) {
  auto interface = dyn_cast<cta::LayoutInterface>(op);
  std::optional<cta::TensorPart> part = interface ? interface.getOperandPart({1}) : std::nullopt;
  return part && part->dim.value_or(1) == 1 && getOperandLayout(op, layout);
}

ColumnSlicer::ColumnSlicer(ArrayRef<Value> matrices, ArrayRef<Operation *> users, const PointerBases &written,
                           int64_t columns)
    : allColumns(cast<RankedTensorType>(matrices.front().getType()).getDimSize(1)), columns(columns) {
  Operation *user = users.front();
  // Visits operations from last to first, so that all users of an operation are decided on before the operation itself.
  DenseSet<Operation *> candidates;
  for (Value matrix : matrices)
    if (Operation *op = matrix.getDefiningOp(); op && op->getBlock() == user->getBlock())
      candidates.insert(op);
  for (Operation *op = user->getPrevNode(); op && !candidates.empty(); op = op->getPrevNode()) {
    if (!candidates.erase(op))
      continue;
    auto type = dyn_cast<RankedTensorType>(op->getResultTypes().front());
    if (!type || !sliceLayout(type, columns) || !llvm::all_of(op->getUsers(), [&](Operation *other) {
          return llvm::is_contained(users, other) || recomputed.contains(other);
        }))
      continue;
    auto convert = dyn_cast<cta::ConvertLayoutOp>(op);
    if (convert && isLoaded(convert, user, written)) {
      buffers[convert] = {};
      continue;
    }
    if (!isComputedByColumns(op, *sliceLayout(type, columns)))
      continue;
    recomputed.insert(op);
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && source->getBlock() == user->getBlock())
        candidates.insert(source);
  }
}

/// Returns true if only the columns of a slice need to be loaded. Loads may move after writes of other columns if the
/// writes go to a different parameter: different parameters are assumed to point to different tensors.
bool ColumnSlicer::isLoaded(cta::ConvertLayoutOp convert, Operation *user, const PointerBases &written) const {
  auto load = convert.getSrc().getDefiningOp<LoadOp>();
  if (!load || !load->hasOneUse() || load->getBlock() != user->getBlock() || load.getIsVolatile() ||
      !llvm::all_of(load->getOperands(), canRecreateColumns))
    return false;
  if (PointerBases::of(load.getPtr()).mayOverlap(written) ||
      layout::planMovement(cta::getLayout(load.getType()), cta::getLayout(convert.getType())).kind !=
          layout::MovementKind::shared ||
      !planRowAccess(sliceLayout(convert.getType(), columns)->getLayout(), cta::getLayout(load.getType()),
                     load.getVector()))
    return false;
  for (Operation *op = load->getNextNode(); op != user; op = op->getNextNode())
    if (op->walk([](Operation *inner) {
            bool writes = writesGlobalMemory(inner) || isa<cta::TmaStoreOp>(inner);
            return writes ? WalkResult::interrupt() : WalkResult::advance();
          }).wasInterrupted())
      return false;
  return true;
}

RankedTensorType ColumnSlicer::sliceType(RankedTensorType type) const {
  return RankedTensorType::get({type.getDimSize(0), columns}, type.getElementType(), *sliceLayout(type, columns));
}

Value ColumnSlicer::slice(OpBuilder &builder, Value matrix, int64_t first) {
  if (std::exchange(this->first, first) != first)
    created.clear();
  return create(builder, matrix);
}

void ColumnSlicer::load(OpBuilder &builder, int64_t first) {
  for (auto &[convert, buffer] : buffers)
    loaded[{convert, first}] = emitLoad(builder, cast<cta::ConvertLayoutOp>(convert), first);
}

Value ColumnSlicer::emitLoad(OpBuilder &builder, cta::ConvertLayoutOp convert, int64_t first) {
  auto load = convert.getSrc().getDefiningOp<LoadOp>();
  RankedTensorType sliced = sliceType(convert.getType());
  cta::LayoutAttr rows = attribute(
      builder.getContext(), *planRowAccess(cta::getLayout(sliced), cta::getLayout(load.getType()), load.getVector()));
  SmallVector<Value> operands;
  for (Value operand : load->getOperands())
    operands.push_back(recreateColumns(builder, operand, first, columns, rows));
  auto part = cast<LoadOp>(builder.clone(*load));
  part->setOperands(operands);
  part.getResult().setType(cta::withLayout(sliced, rows));
  return part;
}

Value ColumnSlicer::emitLoaded(OpBuilder &builder, cta::ConvertLayoutOp convert) {
  Location loc = convert.getLoc();
  Value rows = loaded.lookup({convert, first});
  if (!rows)
    rows = emitLoad(builder, convert, first);
  RankedTensorType sliced = sliceType(convert.getType());
  Value &buffer = buffers[convert];
  if (!buffer)
    buffer = allocatePanel(builder, loc, rows.getType(), sliced);
  cta::LocalStoreOp::create(builder, loc, rows, buffer, /*first=*/false);
  return cta::LocalLoadOp::create(builder, loc, sliced, buffer, /*start=*/{});
}

Value tile::allocatePanel(OpBuilder builder, Location loc, Type from, Type to) {
  auto panel = cast<RankedTensorType>(from);
  unsigned bytes = getBytesInMemory(panel.getElementType());
  LinearLayout shared = layout::bankConflictFree(cta::getLayout(panel), cta::getLayout(to), bytes);
  auto type = cta::BufferType::get(loc.getContext(), panel.getShape(), panel.getElementType(),
                                   attribute(loc.getContext(), shared), /*slots=*/1);
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  if (!isa<scf::IfOp>(parent) || !parent->getParentOfType<scf::ForOp>()) {
    auto kernel = isa<KernelOp>(parent) ? cast<KernelOp>(parent) : parent->getParentOfType<KernelOp>();
    builder.setInsertionPointToStart(&kernel.getBody().front());
  }
  return cta::AllocOp::create(builder, loc, type, /*offset=*/IntegerAttr());
}

static Value convertTo(OpBuilder &builder, Value value, cta::LayoutAttr layout) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || cta::getLayoutAttr(type) == layout)
    return value;
  return cta::ConvertLayoutOp::create(builder, value.getLoc(), cta::withLayout(type, layout), value);
}

Value ColumnSlicer::create(OpBuilder &builder, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() != 2 || type.getDimSize(1) != allColumns)
    return value;
  if (Value known = created.lookup(value))
    return known;
  Operation *op = value.getDefiningOp();
  auto convert = dyn_cast_or_null<cta::ConvertLayoutOp>(op);
  RankedTensorType sliced = sliceType(type);
  Value result;
  bool isConstant = isa_and_nonnull<arith::ConstantOp>(op) && isComputedByColumns(op, cta::getLayoutAttr(sliced));
  if (isConstant || recomputed.contains(op)) {
    cta::LayoutAttr needed = getOperandLayout(op, cta::getLayoutAttr(sliced));
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(convertTo(builder, create(builder, operand), needed));
    result = cast<cta::LayoutInterface>(op).recreate(builder, operands, sliced, {1, first});
  } else if (convert && buffers.contains(convert)) {
    result = emitLoaded(builder, convert);
  } else {
    result = cta::SliceColumnsOp::create(builder, value.getLoc(), sliced, value, first);
  }
  return created[value] = result;
}
