// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-narrow-loads: load elements that share an address once.
//
//   %g = %k / 128                                        %g = (every 64th of %k) / 128
//   %p = addptr (splat %scales), %g : 64x64x!ptr   ==>   %p = addptr (splat %scales), %g : 1x64x!ptr
//   %s = tile.load %p : 64x64xbf16                       %s = broadcast (tile.load %p) : 64x64xbf16
//
// Scales of groups along K, and integers that pack several values, are loaded through blocks of pointers, most of which
// are equal to a neighbour. Only the first of each group of equal pointers along a dimension
// (Analysis/Addresses/AxisInfo.h: constancy) is computed and loaded. The remaining addresses may be consecutive,
// whereas the repeated ones were not, so a thread can load several elements at once. Layouts can also take into account
// that all elements of a group are one value.
//
// A loop-carried pointer is also narrowed if it has no other users.
#include "Analysis/Addresses/AxisInfo.h"
#include "Analysis/Flow/Recreate.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILENARROWLOADS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// For each dimension, the number of elements that one loaded element represents.
using Groups = SmallVector<int64_t, 2>;

bool isWhole(ArrayRef<int64_t> groups) {
  return llvm::all_of(groups, [](int64_t group) { return group == 1; });
}

RankedTensorType narrowed(Type type, ArrayRef<int64_t> groups) {
  auto whole = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(whole.getShape());
  for (auto [size, group] : llvm::zip_equal(shape, groups))
    size /= group;
  return whole.clone(shape);
}

/// Returns the groups of the operand whose first elements determine the first elements of the result's groups.
std::optional<Groups> getOperandGroups(ShapeChange op, ArrayRef<int64_t> groups) {
  std::optional<SourceDims> dims = op.getSourceDims();
  if (!dims)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  Groups operand(type ? type.getRank() : 0, 1);
  for (auto [group, dim] : llvm::zip_equal(groups, *dims))
    if (dim)
      operand[*dim] = group;
  return operand;
}

/// Computes the first element of each group of a load's pointers, mask and other value.
class Narrowing {
public:
  Narrowing(LoadOp load, Groups groups, AxisInfoAnalysis &facts)
      : load(load), groups(std::move(groups)), facts(facts) {}

  /// Returns true if all of these elements can be computed, and the narrowed loop-carried values have no other users.
  bool isPossible() {
    return llvm::all_of(load->getOperands(), [&](Value operand) { return visit(operand, groups); }) &&
           llvm::all_of(llvm::make_first_range(carried),
                        [&](BlockArgument argument) { return feedsOnlyLoad(argument); });
  }

  void rewrite() {
    OpBuilder builder(load);
    SmallVector<Value> operands;
    for (Value operand : load->getOperands())
      operands.push_back(create(operand, groups));
    Operation *narrow = builder.clone(*load);
    narrow->setOperands(operands);
    narrow->getResult(0).setType(narrowed(load.getType(), groups));
    load.getResult().replaceAllUsesWith(repeat(builder, narrow->getResult(0)));
    unused.assign(load->operand_begin(), load->operand_end());
    load.erase();
    for (auto &[argument, argumentGroups] : carried)
      carryNarrowed(argument, argumentGroups);
    eraseIfUnused(unused);
  }

private:
  bool visit(Value value, ArrayRef<int64_t> valueGroups) {
    if (!isa<RankedTensorType>(value.getType()) || isWhole(valueGroups))
      return true;
    if (!visited.insert({value, Groups(valueGroups)}).second)
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      bool isFirst = loop && carried.insert({argument, Groups(valueGroups)}).second;
      if (!isFirst || !loop.getTiedLoopResult(argument).use_empty())
        return false;
      return visit(loop.getTiedLoopInit(argument)->get(), valueGroups) &&
             visit(loop.getTiedLoopYieldedValue(argument)->get(), valueGroups);
    }
    computed.insert(value);
    Operation *op = value.getDefiningOp();
    SplatElementsAttr constant;
    if (isa<ArangeOp>(op) || matchPattern(op, m_Constant(&constant)))
      return true;
    if (auto change = dyn_cast<ShapeChange>(op)) {
      std::optional<Groups> operandGroups = getOperandGroups(change, valueGroups);
      return operandGroups && visit(op->getOperand(0), *operandGroups);
    }
    auto packed = dyn_cast<InlineAsmOp>(op);
    bool isComputed = (isElementwise(op) || isa<AddPtrOp>(op)) && !(packed && packed.getPack() > 1) &&
                      op->getNumResults() == 1 && op->getNumRegions() == 0 && isMemoryEffectFree(op);
    return isComputed && llvm::all_of(op->getOperands(), [&](Value operand) { return visit(operand, valueGroups); });
  }

  /// Returns true if the argument is used only to compute the load's operands and the argument's next value.
  bool feedsOnlyLoad(BlockArgument argument) {
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    llvm::SetVector<Value> reached;
    reached.insert(argument);
    for (size_t next = 0; next < reached.size(); ++next)
      for (OpOperand &use : reached[next].getUses()) {
        Operation *user = use.getOwner();
        if (user == load || &use == loop.getTiedLoopYieldedValue(argument))
          continue;
        if (user->getNumResults() != 1 || !computed.contains(user->getResult(0)))
          return false;
        reached.insert(user->getResult(0));
      }
    return true;
  }

  /// Emits the first elements of the groups, divided by `divisor`, which divides each of them.
  Value create(Value value, ArrayRef<int64_t> valueGroups, int64_t divisor = 1) {
    if (!isa<RankedTensorType>(value.getType()) || isWhole(valueGroups) || isa<BlockArgument>(value))
      return value; // loop-carried values become narrow in place
    if (Value known = created.lookup({value, Groups(valueGroups), divisor}))
      return known;
    // Each value is created next to its original: before a loop in which it is invariant, for example.
    Operation *op = value.getDefiningOp();
    OpBuilder builder(op);
    Value result = recreateIn(builder, op, narrowed(value.getType(), valueGroups), valueGroups, divisor);
    return created[{value, Groups(valueGroups), divisor}] = result;
  }

  Value recreateIn(OpBuilder &builder, Operation *op, RankedTensorType type, ArrayRef<int64_t> valueGroups,
                   int64_t divisor) {
    SplatElementsAttr constant;
    APInt number;
    if (divisor != 1 && matchPattern(op, m_ConstantInt(&number)))
      return createConstant(builder, op->getLoc(), type, number.getSExtValue() / divisor);
    if (matchPattern(op, m_Constant(&constant)))
      return arith::ConstantOp::create(builder, op->getLoc(), constant.resizeSplat(type));
    if (auto splat = dyn_cast<SplatOp>(op); splat && divisor != 1)
      return SplatOp::create(builder, op->getLoc(), type, createQuotient(builder, splat.getScalar(), divisor));
    if (auto arange = dyn_cast<ArangeOp>(op))
      return createRange(builder, arange, type, valueGroups.front(), divisor);
    // Integers that count by one are recognized as consecutive only in this form.
    APInt by;
    if (isa<arith::DivSIOp, arith::DivUIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&by)) &&
        by.isStrictlyPositive() &&
        isMultiple(op->getOperand(0), valueGroups, by.getSExtValue(), /*sums=*/isa<arith::DivSIOp>(op)))
      return create(op->getOperand(0), valueGroups, by.getSExtValue());
    Groups operandGroups(valueGroups);
    if (auto change = dyn_cast<ShapeChange>(op))
      operandGroups = *getOperandGroups(change, valueGroups);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(create(operand, operandGroups, divisor));
    Operation *clone = builder.clone(*op);
    clone->setOperands(operands);
    clone->getResult(0).setType(type);
    return clone->getResult(0);
  }

  /// Returns true if the first elements of the groups come from a range and are multiples of `number`. With `sums`,
  /// they may also be sums of such terms; each term can be divided separately, because index arithmetic does not
  /// overflow.
  bool isMultiple(Value value, ArrayRef<int64_t> valueGroups, int64_t number, bool sums) {
    if (isWhole(valueGroups))
      return false;
    if (auto arange = value.getDefiningOp<ArangeOp>()) {
      int64_t start = int32_t(arange.getStart());
      return start >= 0 && start % number == 0 && valueGroups.front() % number == 0;
    }
    APInt constant;
    if (sums && matchPattern(value, m_ConstantInt(&constant)))
      return constant.getSExtValue() % number == 0;
    if (auto splat = value.getDefiningOp<SplatOp>(); splat && sums)
      return splat.getScalar().getType().isInteger() &&
             facts.get(splat.getScalar()).getDivisibilityOfAll() % number == 0;
    if (auto sum = value.getDefiningOp<arith::AddIOp>(); sum && sums)
      return isMultiple(sum.getLhs(), valueGroups, number, sums) && isMultiple(sum.getRhs(), valueGroups, number, sums);
    auto change = value.getDefiningOp<ShapeChange>();
    std::optional<Groups> operandGroups = change ? getOperandGroups(change, valueGroups) : std::nullopt;
    return operandGroups && isMultiple(change->getOperand(0), *operandGroups, number, sums);
  }

  static Value createConstant(OpBuilder &builder, Location location, Type type, int64_t number) {
    Attribute attribute = builder.getIntegerAttr(getElementTypeOf(type), number);
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      attribute = SplatElementsAttr::get(tensor, attribute);
    return arith::ConstantOp::create(builder, location, cast<TypedAttr>(attribute));
  }

  /// Divides a scalar that is a multiple of the divisor. If it is a product with a constant, the constant is divided.
  static Value createQuotient(OpBuilder &builder, Value scalar, int64_t divisor) {
    Location location = scalar.getLoc();
    auto constant = [&](int64_t number) { return createConstant(builder, location, scalar.getType(), number); };
    auto product = scalar.getDefiningOp<arith::MulIOp>();
    APInt factor;
    if (product && matchPattern(product.getRhs(), m_ConstantInt(&factor)) && factor.getSExtValue() % divisor == 0)
      return arith::MulIOp::create(builder, location, product.getLhs(), constant(factor.getSExtValue() / divisor));
    return arith::DivSIOp::create(builder, location, scalar, constant(divisor));
  }

  /// Emits (start + group * (0, 1, …)) / divisor.
  static Value createRange(OpBuilder &builder, ArangeOp arange, RankedTensorType type, int64_t group, int64_t divisor) {
    Location location = arange.getLoc();
    int64_t start = int32_t(arange.getStart()) / divisor, size = type.getDimSize(0);
    if (group == divisor)
      return ArangeOp::create(builder, location, type, start, start + size);
    auto constant = [&](int64_t number) { return createConstant(builder, location, type, number); };
    Value count = ArangeOp::create(builder, location, type, 0, size);
    Value distance = arith::MulIOp::create(builder, location, count, constant(group / divisor));
    return arith::AddIOp::create(builder, location, distance, constant(start));
  }

  /// Repeats each element for its group. A dimension with several groups is temporarily split into the number of groups
  /// and the size of a group.
  Value repeat(OpBuilder &builder, Value value) {
    Location location = load.getLoc();
    auto type = cast<RankedTensorType>(load.getType());
    SmallVector<int64_t> single, repeated;
    for (auto [size, group] : llvm::zip_equal(type.getShape(), groups)) {
      if (group != 1 && group != size) {
        single.push_back(size / group);
        repeated.push_back(size / group);
      }
      single.push_back(group == 1 ? size : 1);
      repeated.push_back(group == 1 ? size : group);
    }
    auto reshape = [&](ArrayRef<int64_t> shape) {
      if (cast<RankedTensorType>(value.getType()).getShape() != shape)
        value = ReshapeOp::create(builder, location, type.clone(shape), value);
    };
    reshape(single);
    value = BroadcastOp::create(builder, location, type.clone(repeated), value);
    reshape(type.getShape());
    return value;
  }

  void carryNarrowed(BlockArgument argument, ArrayRef<int64_t> argumentGroups) {
    auto loop = cast<scf::ForOp>(argument.getOwner()->getParentOp());
    for (OpOperand *operand : {loop.getTiedLoopInit(argument), loop.getTiedLoopYieldedValue(argument)}) {
      unused.push_back(operand->get());
      operand->set(create(operand->get(), argumentGroups));
    }
    argument.setType(narrowed(argument.getType(), argumentGroups));
    loop.getTiedLoopResult(argument).setType(argument.getType());
  }

  LoadOp load;
  Groups groups;
  AxisInfoAnalysis &facts;
  llvm::DenseSet<std::pair<Value, Groups>> visited;
  llvm::DenseSet<Value> computed;                                    ///< Visited values that operations compute.
  llvm::MapVector<BlockArgument, Groups> carried;                    ///< Visited values that loops carry.
  llvm::DenseMap<std::tuple<Value, Groups, int64_t>, Value> created; ///< Created values by groups and divisor.
  SmallVector<Value> unused;
};

/// Returns how many neighbouring elements have equal address, mask and other value, along each dimension; powers of
/// two.
Groups findGroups(LoadOp load, AxisInfoAnalysis &facts) {
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!type || load.getIsVolatile() || load.getCache() == CacheModifier::cv)
    return {};
  Groups groups(type.getShape());
  for (Value operand : load->getOperands())
    for (auto [dim, group] : llvm::enumerate(groups))
      group = std::min(group, facts.get(operand).getConstancy(dim));
  for (auto [group, size] : llvm::zip_equal(groups, type.getShape()))
    if (!llvm::isPowerOf2_64(size))
      group = 1;
  return groups;
}

struct TileNarrowLoads : tile::impl::TileNarrowLoadsBase<TileNarrowLoads> {
  void runOnKernel() override {
    AxisInfoAnalysis facts(getOperation());
    SmallVector<LoadOp> loads;
    getOperation().walk([&](LoadOp load) { loads.push_back(load); });
    for (LoadOp load : loads) {
      Groups groups = findGroups(load, facts);
      if (isWhole(groups))
        continue;
      Narrowing narrowing(load, groups, facts);
      if (narrowing.isPossible())
        narrowing.rewrite();
    }
  }
};

} // namespace
