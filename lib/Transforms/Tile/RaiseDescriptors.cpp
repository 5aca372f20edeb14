// tile-raise-descriptors: turn block accesses through tensors of pointers into accesses through descriptors.
//
//   for %k: %x = tile.load %a_ptrs mask %m           %d = tile.make_desc %a, [%M, %K], [%lda, 1]       (kernel entry)
//           %c = tile.dot %x, %y, %acc          ==>  for %k: %x = tile.desc_load %d[%first, %k * 32]
//           yield %a_ptrs + 32                               %c = tile.dot %x, %y, %acc
//
// lib/Analysis/BlockPointers.h says what has to be proven. An operand that is contiguous along its first dimension is
// loaded as it lies in memory and transposed. A block that a further dimension leads to, as in `a + batch * stride`, is
// reshaped from and to a block of one index along it. Cache hints are dropped: descriptor accesses have none. An access
// that does not qualify stays, with a remark that says why.
//
// Only what pays is raised: both operands of a dot, or neither, since the tensor cores' wide instructions want both
// to come through tensor maps; and the stores of a kernel with such a dot. Elementwise kernels stay as they are:
// they reach the speed of a copy with plain vector accesses.
//
// Tensor maps go another way to memory than loads and stores of threads, and nothing orders the two. So no access is
// raised that another one of the same program, if it touches the same memory, has to see or to follow.
#include "Analysis/BlockPointers.h"
#include "Analysis/FindTarget.h"
#include "Analysis/PointerBases.h"
#include "Analysis/SwappedDot.h"
#include "Transforms/Passes.h"

#include "Cta/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILERAISEDESCRIPTORS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

// Plan.

namespace {

/// The accesses to raise, in program order.
using RaisePlan = llvm::MapVector<Operation *, BlockAccess>;

class Planner {
public:
  Planner(KernelOp kernel, const target::GpuTarget &target) : kernel(kernel), target(target), pointers(kernel) {
    kernel.walk([&](Operation *op) { position[op] = position.size(); });
  }

  RaisePlan plan() {
    kernel.walk([&](DotOp dot) { planOperands(dot); });
    if (hasProduct)
      kernel.walk([&](StoreOp store) { planStore(store); });
    for (auto &[access, reason] : reasons)
      if (!raised.contains(access))
        access->emitRemark() << "not raised to a descriptor: " << reason;
    return std::move(raised);
  }

private:
  void planOperands(DotOp dot) {
    SharedOperand operands[] = {traceOperand(dot.getA()), traceOperand(dot.getB())};
    Operation *loads[2] = {};
    for (auto [operand, load] : llvm::zip(operands, loads))
      if (isa_and_present<LoadOp, DescLoadOp>(operand.source))
        load = operand.source;
    bool ready[2] = {};
    for (auto [load, isReady] : llvm::zip(loads, ready))
      isReady = isa_and_present<DescLoadOp>(load) || (load && analyzeOnce(cast<LoadOp>(load)).access);
    // TMA pays where warp groups multiply straight from the shared memory that it fills.
    bool canMultiply = false, fromRegisters = !loads[0] && staysInRegisters(dot);
    if (ready[1] && ready[0])
      canMultiply = isForWarpGroups(dot, isReadTransposed(operands[0]), isReadTransposed(operands[1]), target,
                                    kernel.getNumWarps());
    else if (ready[1] && fromRegisters)
      canMultiply = planWarpGroups(dot, false, isReadTransposed(operands[1]), target, kernel.getNumWarps()).has_value();
    hasProduct |= canMultiply;
    for (auto [index, op] : llvm::enumerate(loads)) {
      auto load = dyn_cast_if_present<LoadOp>(op);
      if (!load)
        continue;
      const BlockAccessResult &result = analyzeOnce(load);
      if (canMultiply)
        raised.try_emplace(load, *result.access);
      else if (ready[1] && (ready[0] || fromRegisters))
        reasons[load] = whyNotMultiplied(dot, operands);
      else if (!result.access)
        reasons[load] = result.reason;
      else
        reasons[load] =
            loads[1 - index] ? "the other operand of the dot cannot be" : "the other operand of the dot is computed";
    }
  }

  std::string whyNotMultiplied(DotOp dot, ArrayRef<SharedOperand> operands) {
    if (!isa_and_present<LoadOp, DescLoadOp>(operands[0].source))
      return "warp groups do not multiply these types, sizes or operand orders";
    return whyNotForWarpGroups(dot, isReadTransposed(operands[0]), isReadTransposed(operands[1]), target,
                               kernel.getNumWarps());
  }

  /// Whether the operand's first dimension is contiguous in memory.
  bool isReadTransposed(const SharedOperand &operand) {
    auto load = dyn_cast<LoadOp>(operand.source);
    bool swapped = load && !llvm::is_sorted(analyzeOnce(load).access->order);
    return operand.transposed != swapped;
  }

  void planStore(StoreOp store) {
    auto type = dyn_cast<RankedTensorType>(store.getPtr().getType());
    if (!type || type.getRank() < 2)
      return;
    BlockAccessResult result = pointers.analyze(store);
    if (result.access && hasToBeOrdered(store))
      result = {std::nullopt, "another access of the program may touch the same memory"};
    if (result.access)
      raised.try_emplace(store, *result.access);
    else
      reasons[store] = result.reason;
  }

  const BlockAccessResult &analyzeOnce(LoadOp load) {
    auto [entry, isNew] = analyzed.try_emplace(load);
    if (isNew) {
      entry->second = pointers.analyze(load);
      if (entry->second.access && isPrecededByWrite(load))
        entry->second = {std::nullopt, "the program may have written memory before it"};
    }
    return entry->second;
  }

  /// In some iteration of a common loop, or else in program order.
  bool mayRunBefore(Operation *first, Operation *second) {
    for (Operation *loop = first->getParentOp(); loop != kernel; loop = loop->getParentOp())
      if (isa<LoopLikeOpInterface>(loop) && loop->isAncestor(second))
        return true;
    return position[first] < position[second];
  }

  bool isPrecededByWrite(LoadOp load) {
    PointerBases read = PointerBases::of(load.getPtr());
    WalkResult result = kernel.walk([&](Operation *op) {
      bool isStore = isa<StoreOp, DescStoreOp>(op); // else it waits for other programs, or may do anything
      bool conflicts = isStore ? PointerBases::writtenBy(op).mayOverlap(read) : writesGlobalMemory(op);
      return conflicts && mayRunBefore(op, load) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  /// Before a read, or with another write or one of a later iteration.
  bool hasToBeOrdered(StoreOp store) {
    WalkResult result = kernel.walk([&](Operation *op) {
      bool writes = writesGlobalMemory(op), reads = isa<LoadOp, DescLoadOp>(op);
      bool conflicts = ((writes || reads) && mayRunBefore(store, op)) || (writes && mayRunBefore(op, store));
      return conflicts ? WalkResult::interrupt() : WalkResult::advance();
    });
    return result.wasInterrupted();
  }

  KernelOp kernel;
  const target::GpuTarget &target;
  BlockPointers pointers;
  DenseMap<Operation *, unsigned> position;
  DenseMap<Operation *, BlockAccessResult> analyzed;
  RaisePlan raised;
  llvm::MapVector<Operation *, std::string> reasons; ///< Why an access is not raised.
  bool hasProduct = false;                           ///< Of operands that come through descriptors.
};

// Rewrite.

/// Computes polynomials, with factors as they are or as copies at the kernel's entry.
class PolynomialEmitter {
public:
  PolynomialEmitter(OpBuilder &builder, Location location) : builder(builder), location(location) {}

  Value emit(const Polynomial &number, Type type) {
    Value sum;
    for (const Polynomial::Term &term : number.getTerms()) {
      // The first term of a sum carries its sign, the others are added or subtracted.
      bool subtract = sum && term.coefficient < 0;
      Value product = emitTerm(term, subtract ? -term.coefficient : term.coefficient, type);
      if (!sum)
        sum = product;
      else if (subtract)
        sum = arith::SubIOp::create(builder, location, sum, product);
      else
        sum = arith::AddIOp::create(builder, location, sum, product);
    }
    return sum ? sum : emitConstant(0, type);
  }

  /// Factors are computed anew from the kernel's arguments.
  void copyFactors() { copy = true; }

private:
  Value emitConstant(int64_t value, Type type) {
    return arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, value));
  }

  Value emitTerm(const Polynomial::Term &term, int64_t coefficient, Type type) {
    Value product;
    for (Value factor : term.factors) {
      factor = copy ? emitCopy(factor) : factor;
      if (factor.getType() != type)
        factor = arith::ExtSIOp::create(builder, location, type, factor);
      product = product ? arith::MulIOp::create(builder, location, product, factor) : factor;
    }
    if (!product)
      return emitConstant(coefficient, type);
    if (coefficient == 1)
      return product;
    return arith::MulIOp::create(builder, location, product, emitConstant(coefficient, type));
  }

  Value emitCopy(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || copies.contains(value))
      return copies.lookupOrDefault(value);
    for (Value operand : op->getOperands())
      emitCopy(operand);
    return builder.clone(*op, copies)->getResult(0);
  }

  OpBuilder &builder;
  Location location;
  bool copy = false;
  IRMapping copies;
};

Value emitDescriptor(OpBuilder &builder, const BlockAccess &access, Location location) {
  PolynomialEmitter emitter(builder, location);
  emitter.copyFactors();
  SmallVector<Value> shape, strides;
  for (const Polynomial &extent : access.shape) {
    Value size = emitter.emit(extent, builder.getI32Type());
    // Below zero nothing is enabled, as with an extent of zero.
    if (extent.getConstant().value_or(-1) < 0)
      size = arith::MaxSIOp::create(builder, location, size, emitter.emit(0, builder.getI32Type()));
    shape.push_back(size);
  }
  for (const Polynomial &stride : access.strides)
    strides.push_back(emitter.emit(stride, builder.getI64Type()));
  Type element = cast<PtrType>(access.base.getType()).getPointee();
  auto type = DescType::get(builder.getContext(), access.block, element);
  return MakeDescOp::create(builder, location, type, access.base, shape, strides);
}

/// Outside of the loops that do not change them.
SmallVector<Value> emitCoordinates(Operation *op, const BlockAccess &access) {
  SmallVector<Value> coordinates;
  for (const Polynomial &coordinate : access.coordinates) {
    Operation *place = op;
    auto loop = op->getParentOfType<LoopLikeOpInterface>();
    while (loop && coordinate.all([&](Value factor) { return loop.isDefinedOutsideOfLoop(factor); })) {
      place = loop;
      loop = loop->getParentOfType<LoopLikeOpInterface>();
    }
    OpBuilder builder(place);
    coordinates.push_back(PolynomialEmitter(builder, op->getLoc()).emit(coordinate, builder.getI32Type()));
  }
  return coordinates;
}

/// The same elements without or with leading dimensions of size 1.
Value emitReshape(OpBuilder &builder, Location location, Value value, ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == sizes)
    return value;
  return ReshapeOp::create(builder, location, RankedTensorType::get(sizes, type.getElementType()), value);
}

Value emitTrans(OpBuilder &builder, Location location, Value value, ArrayRef<int32_t> order) {
  if (llvm::equal(order, llvm::seq<int32_t>(0, order.size())))
    return value;
  SmallVector<int64_t> sizes;
  for (int32_t dim : order)
    sizes.push_back(cast<RankedTensorType>(value.getType()).getDimSize(dim));
  return TransOp::create(builder, location, RankedTensorType::get(sizes, getElementTypeOf(value.getType())), value,
                         order);
}

void rewriteAccess(Operation *op, const BlockAccess &access, Value descriptor) {
  Location location = op->getLoc();
  SmallVector<Value> coordinates = emitCoordinates(op, access);
  OpBuilder builder(op);
  if (auto store = dyn_cast<StoreOp>(op)) {
    Value value = emitTrans(builder, location, store.getValue(), access.order);
    value = emitReshape(builder, location, value, access.block);
    DescStoreOp::create(builder, location, descriptor, coordinates, value, /*reduce=*/AtomicKindAttr());
  } else {
    // From the order of memory back to that of the access.
    SmallVector<int32_t> order(access.order.size());
    for (auto [from, to] : llvm::enumerate(access.order))
      order[to] = from;
    auto type = RankedTensorType::get(access.block, getElementTypeOf(op->getResult(0).getType()));
    Value loaded = DescLoadOp::create(builder, location, type, descriptor, coordinates);
    loaded = emitReshape(builder, location, loaded, ArrayRef(access.block).take_back(order.size()));
    op->getResult(0).replaceAllUsesWith(emitTrans(builder, location, loaded, order));
  }
  op->erase();
}

/// What a loop computes from `argument` is nothing but the argument's own next value.
bool feedsOnlyItself(scf::ForOp loop, BlockArgument argument) {
  llvm::SmallSetVector<Value, 8> reached;
  reached.insert(argument);
  for (size_t next = 0; next < reached.size(); ++next)
    for (OpOperand &use : reached[next].getUses()) {
      Operation *user = use.getOwner();
      if (user == loop.getBody()->getTerminator() && &use == loop.getTiedLoopYieldedValue(argument))
        continue;
      if (user->getNumRegions() || user->hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(user))
        return false;
      reached.insert(user->result_begin(), user->result_end());
    }
  return true;
}

/// Pointers that nothing uses any more are no longer bumped; canonicalisation then removes them.
void stopDeadPointers(KernelOp kernel) {
  kernel.walk([](scf::ForOp loop) {
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (loop.getTiedLoopResult(argument).use_empty() && feedsOnlyItself(loop, argument))
        loop.getTiedLoopYieldedValue(argument)->set(argument);
  });
}

struct TileRaiseDescriptors : tile::impl::TileRaiseDescriptorsBase<TileRaiseDescriptors> {
  using TileRaiseDescriptorsBase::TileRaiseDescriptorsBase;

  void runOnKernel() override {
    const target::GpuTarget *gpu = findTargetOrEmitError(target, getOperation());
    if (!gpu)
      return signalPassFailure();
    if (!gpu->has(target::Feature::Tma))
      return;
    RaisePlan plan = Planner(getOperation(), *gpu).plan();
    if (plan.empty())
      return;
    OpBuilder entry(getOperation().getContext());
    entry.setInsertionPointToStart(&getOperation().getBody().front());
    for (auto &[op, access] : plan)
      rewriteAccess(op, access, emitDescriptor(entry, access, op->getLoc()));
    stopDeadPointers(getOperation());
  }
};

} // namespace
