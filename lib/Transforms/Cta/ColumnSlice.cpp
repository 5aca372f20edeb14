// Recomputes parts of matrices; see ColumnSlice.h.
#include "Transforms/Cta/ColumnSlice.h"

#include "Layout/Movement.h"
#include "Layout/ShapeTransforms.h"
#include "Layout/SharedLayouts.h"
#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

static cta::LayoutAttr attribute(MLIRContext *context, const LinearLayout &layout) {
  return cta::LayoutAttr::get(context, layout);
}

static bool isElementwise(Operation *op) {
  return op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         (op->hasTrait<OpTrait::Elementwise>() || isa<AddPtrOp>(op));
}

static bool isSplatConstant(Operation *op) {
  auto constant = dyn_cast_or_null<arith::ConstantOp>(op);
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

static Value resizeSplat(OpBuilder &builder, arith::ConstantOp constant, RankedTensorType type) {
  return arith::ConstantOp::create(builder, constant.getLoc(),
                                   cast<SplatElementsAttr>(constant.getValue()).resizeSplat(type));
}

/// The layout of a broadcast's operand, given that of its result.
static LinearLayout clampToOperand(BroadcastOp broadcast, LinearLayout layout) {
  for (auto [axis, size] : llvm::enumerate(broadcast.getSrc().getType().getShape()))
    if (size != broadcast.getResult().getType().getDimSize(axis))
      layout = layout::clampDim(layout, axis);
  return layout;
}

static Value cloneWith(OpBuilder &builder, Operation *op, ArrayRef<Value> operands, Type type) {
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  clone->getResult(0).setType(type);
  return clone->getResult(0);
}

std::optional<cta::LayoutAttr> tile::sliceLayout(RankedTensorType matrix, int64_t columns) {
  if (matrix.getRank() != 2 || matrix.getDimSize(1) % columns != 0)
    return std::nullopt;
  std::optional<layout::SlicedLayout> sliced = layout::sliceDim(cta::getLayout(matrix), 1, columns);
  return sliced ? std::optional(attribute(matrix.getContext(), sliced->layout)) : std::nullopt;
}

/// Whether the elements that a thread accesses at once are neighbours in a row.
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

Attribute tile::findBase(Value access) {
  while (Operation *op = access.getDefiningOp()) {
    if (!isa<AddPtrOp, SplatOp, BroadcastOp, ExpandDimsOp, cta::ConvertLayoutOp, MakeDescOp, cta::MakeTensorMapOp>(op))
      return {};
    access = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(access);
  auto kernel = dyn_cast<KernelOp>(argument.getOwner()->getParentOp());
  if (!kernel)
    return {};
  if (auto map = kernel.getArgAttrOfType<DictionaryAttr>(argument.getArgNumber(), KernelOp::getTensorMapAttrName()))
    return map.get("base");
  return isa<PtrType>(argument.getType())
             ? Attribute(StringAttr::get(kernel.getContext(), kernel.getArgName(argument.getArgNumber())))
             : Attribute();
}

ColumnSlicer::ColumnSlicer(Value matrix, Operation *user, Attribute base, int64_t columns)
    : matrix(matrix), allColumns(cast<RankedTensorType>(matrix.getType()).getDimSize(1)), columns(columns) {
  // Last to first, so that all users of an operation have been decided on.
  DenseSet<Operation *> candidates;
  if (Operation *op = matrix.getDefiningOp(); op && op->getBlock() == user->getBlock())
    candidates.insert(op);
  for (Operation *op = user->getPrevNode(); op && !candidates.empty(); op = op->getPrevNode()) {
    if (!candidates.erase(op))
      continue;
    auto type = dyn_cast<RankedTensorType>(op->getResultTypes().front());
    if (!type || !sliceLayout(type, columns) ||
        !llvm::all_of(op->getUsers(), [&](Operation *other) { return other == user || recomputed.contains(other); }))
      continue;
    auto convert = dyn_cast<cta::ConvertLayoutOp>(op);
    if (convert && isLoaded(convert, user, base)) {
      buffers[convert] = {};
      continue;
    }
    if (!isElementwise(op) && !isa<BroadcastOp>(op))
      continue;
    recomputed.insert(op);
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && source->getBlock() == user->getBlock())
        candidates.insert(source);
  }
}

/// Loads may move behind writes of other columns if these go to another parameter: different ones are taken to be
/// different tensors.
bool ColumnSlicer::isLoaded(cta::ConvertLayoutOp convert, Operation *user, Attribute base) const {
  auto load = convert.getSrc().getDefiningOp<LoadOp>();
  if (!load || !load->hasOneUse() || load->getBlock() != user->getBlock() || load.getIsVolatile() ||
      !llvm::all_of(load->getOperands(), canRecreateColumns))
    return false;
  Attribute source = findBase(load.getPtr());
  if (!base || !source || source == base ||
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

Value ColumnSlicer::slice(OpBuilder &builder, int64_t first) {
  this->first = first;
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
  return cloneWith(builder, load, operands, cta::withLayout(sliced, rows));
}

Value ColumnSlicer::emitLoaded(OpBuilder &builder, cta::ConvertLayoutOp convert) {
  Location loc = convert.getLoc();
  Value rows = loaded.lookup({convert, first});
  if (!rows)
    rows = emitLoad(builder, convert, first);
  RankedTensorType sliced = sliceType(convert.getType());
  Value &buffer = buffers[convert];
  if (!buffer)
    buffer = allocatePanel(convert->getParentOfType<KernelOp>(), loc, rows.getType(), sliced);
  cta::LocalStoreOp::create(builder, loc, rows, buffer, /*first=*/false);
  return cta::LocalLoadOp::create(builder, loc, sliced, buffer, /*start=*/{});
}

Value tile::allocatePanel(KernelOp kernel, Location loc, Type from, Type to) {
  auto panel = cast<RankedTensorType>(from);
  unsigned bytes = getBytesInMemory(panel.getElementType());
  LinearLayout places = layout::bankConflictFree(cta::getLayout(panel), cta::getLayout(to), bytes);
  auto type = cta::BufferType::get(loc.getContext(), panel.getShape(), panel.getElementType(),
                                   attribute(loc.getContext(), places), /*slots=*/1);
  OpBuilder builder(&kernel.getBody().front(), kernel.getBody().front().begin());
  return cta::AllocOp::create(builder, loc, type, /*offset=*/IntegerAttr());
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
  if (isSplatConstant(op)) {
    result = resizeSplat(builder, cast<arith::ConstantOp>(op), sliced);
  } else if (op && recomputed.contains(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(create(builder, operand));
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      auto source = cast<RankedTensorType>(operands[0].getType());
      auto needed =
          cta::withLayout(source, attribute(builder.getContext(), clampToOperand(broadcast, cta::getLayout(sliced))));
      if (needed != source)
        operands[0] = cta::ConvertLayoutOp::create(builder, op->getLoc(), needed, operands[0]);
    }
    result = cloneWith(builder, op, operands, sliced);
  } else if (convert && buffers.contains(convert)) {
    result = emitLoaded(builder, convert);
  } else {
    result = cta::SliceColumnsOp::create(builder, value.getLoc(), sliced, value, first);
  }
  return created[value] = result;
}

namespace {

/// `isSliced`: whether the last dimension of the value is the one whose columns are taken.
struct Recreation {
  OpBuilder &builder;
  int64_t first, columns;
  DenseMap<std::tuple<Value, cta::LayoutAttr, unsigned>, Value> created{};

  Value create(Value value, cta::LayoutAttr layout, bool isSliced) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return value;
    if (Value known = created.lookup({value, layout, isSliced}))
      return known;
    SmallVector<int64_t> shape(type.getShape());
    if (isSliced)
      shape.back() = columns;
    Value result =
        createAnew(value.getDefiningOp(), RankedTensorType::get(shape, type.getElementType(), layout), isSliced);
    return created[{value, layout, isSliced}] = result;
  }

  Value createAnew(Operation *op, RankedTensorType type, bool isSliced) {
    cta::LayoutAttr layout = cta::getLayoutAttr(type);
    if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op))
      return create(convert.getSrc(), layout, isSliced);
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return resizeSplat(builder, constant, type);
    if (auto range = dyn_cast<ArangeOp>(op)) {
      int64_t start = range.getStart() + (isSliced ? first : 0);
      return ArangeOp::create(builder, op->getLoc(), type, start, start + type.getDimSize(0));
    }
    SmallVector<Value> operands;
    if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
      layout = attribute(op->getContext(), layout::removeDim(layout.getLayout(), expand.getAxis()));
      // A row's last dimension is that of the vector, a column's is new.
      return cloneWith(builder, op, create(expand->getOperand(0), layout, isSliced && expand.getAxis() == 0), type);
    }
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      bool hasColumns = broadcast.getSrc().getType().getShape().back() != 1;
      layout = attribute(op->getContext(), clampToOperand(broadcast, layout.getLayout()));
      return cloneWith(builder, op, create(broadcast.getSrc(), layout, isSliced && hasColumns), type);
    }
    if (auto addPtr = dyn_cast<AddPtrOp>(op))
      return addOffset(create(addPtr.getPtr(), layout, isSliced), addPtr.getOffset(), op, type, isSliced);
    for (Value operand : op->getOperands())
      operands.push_back(create(operand, layout, isSliced));
    return cloneWith(builder, op, operands, type);
  }

  /// A sum is added term by term, which is the same as long as it does not overflow (see Analysis/BlockPointers.h):
  /// then the elements of a row share the part of their addresses that is no constant.
  Value addOffset(Value pointer, Value offset, Operation *addPtr, RankedTensorType type, bool isSliced) {
    if (auto sum = offset.getDefiningOp<arith::AddIOp>()) {
      pointer = addOffset(pointer, sum.getLhs(), addPtr, type, isSliced);
      return addOffset(pointer, sum.getRhs(), addPtr, type, isSliced);
    }
    Value term = create(offset, cta::getLayoutAttr(type), isSliced);
    return cloneWith(builder, addPtr, {pointer, term}, type);
  }
};

bool canRecreate(Value value, DenseSet<Value> &visited) {
  if (!isa<RankedTensorType>(value.getType()) || !visited.insert(value).second)
    return true;
  Operation *op = value.getDefiningOp();
  if (isSplatConstant(op))
    return true;
  bool known = op && (isElementwise(op) || isa<ArangeOp, SplatOp, ExpandDimsOp, BroadcastOp, cta::ConvertLayoutOp>(op));
  return known && llvm::all_of(op->getOperands(), [&](Value operand) { return canRecreate(operand, visited); });
}

} // namespace

bool tile::canRecreateColumns(Value matrix) {
  DenseSet<Value> visited;
  return canRecreate(matrix, visited);
}

Value tile::recreateColumns(OpBuilder &builder, Value matrix, int64_t first, int64_t columns, cta::LayoutAttr layout) {
  Recreation recreation{builder, first, columns};
  return recreation.create(matrix, layout, /*isSliced=*/true);
}

void tile::eraseIfUnused(ValueRange unused) {
  llvm::SetVector<Value> values(unused.begin(), unused.end());
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || op->getNumRegions() != 0 || !isOpTriviallyDead(op))
      continue;
    values.insert(op->operand_begin(), op->operand_end());
    for (Value result : op->getResults())
      values.remove(result);
    op->erase();
  }
}
