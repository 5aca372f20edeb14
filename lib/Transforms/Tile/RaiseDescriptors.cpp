// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-raise-descriptors: turn block accesses through tensors of pointers into accesses through descriptors.
//
//   for %k: %x = tile.load %a_ptrs mask %m           %d = tile.make_desc %a, [%M, %K], [%lda, 1]       (kernel entry)
//           %c = tile.dot %x, %y, %acc          ==>  for %k: %x = tile.desc_load %d[%first, %k * 32]
//           yield %a_ptrs + 32                               %c = tile.dot %x, %y, %acc
//
// lib/Analysis/Addresses/BlockPointers.h says what has to be proven. An operand that is contiguous along its first
// dimension is loaded with its layout in memory and then transposed. If a block is selected by a further dimension, as
// in `a + batch
// * stride`, the descriptor's block has size 1 along that dimension and is reshaped. Cache hints are dropped, because
// descriptor accesses have none. An access that does not qualify stays, and a remark says why. If the base is loaded
// from a table, the descriptor is created after that load, and the kernel encodes the tensor map
// (tile-device-descriptors).
//
// Only profitable accesses are turned into descriptor accesses ("raised"): the loads of a dot's operands, if both can
// be raised, because wgmma requires both to come through tensor maps; and the stores of a kernel with such a dot.
// Elementwise kernels are unchanged: they reach copy speed with plain vector accesses. Kernels with several dots whose
// operands are loaded only once or twice are also unchanged: a producer warp would have nothing to prefetch, and would
// leave no room for a second resident CTA. Accesses in a loop are not raised if its threads copy other operands, or
// need the registers that a producer would take. Nothing is raised in a program that waits for other programs.
// Analysis/Engines/RaisableAccesses.h determines which accesses can be raised, and tile-choose-engine determines which
// dots qualify.
#include "Analysis/Engines/EngineChoice.h"
#include "Analysis/Flow/Recreate.h"
#include "Analysis/Loops/LoopRange.h"
#include "Analysis/Programs/RolePlan.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/Tuned.h"
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

// Choice of the accesses to raise.

namespace {

/// The accesses to raise, in program order.
using RaisePlan = llvm::MapVector<Operation *, BlockAccess>;

class Planner {
public:
  Planner(KernelOp kernel, RaisableAccesses &accesses, const target::GpuTarget &target)
      : kernel(kernel), accesses(accesses), target(target) {}

  RaisePlan plan() {
    isOfSingleSteps = copiesOnce();
    kernel.walk([&](DotOp dot) { planOperands(dot); });
    leaveMixedLoops();
    leaveFullLoops();
    bool hasBufferDot = llvm::any_of(worthwhile, [&](DotOp dot) { return !copiesByThreads(dot); });
    if (hasBufferDot)
      kernel.walk([&](StoreOp store) { planStore(store); });
    for (auto &[access, reason] : reasons)
      if (!raised.contains(access))
        access->emitRemark() << (isa<StoreOp>(access) ? "store" : "load") << " does not use TMA: " << reason;
    return std::move(raised);
  }

private:
  /// Returns true if the kernel has several dots, and no loop loads their operands more than twice.
  bool copiesOnce() {
    SmallVector<DotOp> dots;
    kernel.walk([&](DotOp dot) { dots.push_back(dot); });
    auto isRepeated = [](Value operand) {
      Operation *op = traceOperand(operand).source;
      if (!isa_and_present<LoadOp, DescLoadOp>(op))
        return false;
      for (op = op->getParentOp(); !isa<KernelOp>(op); op = op->getParentOp())
        if (isa<LoopLikeOpInterface>(op)) {
          auto loop = dyn_cast<scf::ForOp>(op);
          std::optional<APInt> trips = loop ? countIterations(loop) : std::nullopt;
          if (!trips || trips->ugt(2))
            return true;
        }
      return false;
    };
    return dots.size() > 1 &&
           llvm::none_of(dots, [&](DotOp dot) { return isRepeated(dot.getA()) || isRepeated(dot.getB()); });
  }

  void planOperands(DotOp dot) {
    SharedOperand operands[] = {traceOperand(dot.getA()), traceOperand(dot.getB())};
    Operation *loads[2] = {};
    for (auto [operand, load] : llvm::zip(operands, loads))
      if (isa_and_present<LoadOp, DescLoadOp>(operand.source))
        load = operand.source;
    bool ready[2] = {};
    for (auto [load, isReady] : llvm::zip(loads, ready))
      isReady = isa_and_present<DescLoadOp>(load) || (load && accesses.get(cast<LoadOp>(load)).access);
    // TMA pays off only if wgmma reads its operands from the shared memory that TMA fills.
    cta::BufferEngine engine = getEngineOfBlocks(dot);
    bool fromRegisters = !loads[0] && staysInRegisters(dot);
    bool takesComputed = engine && (engine.isFromRegisters() || isa<cta::Tcgen05Attr>(Attribute(engine)));
    bool canMultiply = engine && ready[1] && (ready[0] || (takesComputed && fromRegisters));
    bool isWorthwhile = canMultiply && !isOfSingleSteps;
    if (isWorthwhile)
      worthwhile.push_back(dot);
    for (auto [index, op] : llvm::enumerate(loads)) {
      auto load = dyn_cast_if_present<LoadOp>(op);
      if (!load)
        continue;
      const BlockAccessResult &result = accesses.get(load);
      if (isWorthwhile)
        raised.try_emplace(load, *result.access);
      else if (canMultiply)
        reasons[load] = "several dots with at most two iterations; cp.async leaves room for more CTAs";
      else if (ready[1] && (ready[0] || fromRegisters))
        reasons[load] = whyNotMultiplied(dot, operands);
      else if (!result.access)
        reasons[load] = result.reason;
      else
        reasons[load] = loads[1 - index] ? "the other operand of the dot cannot use it"
                                         : "the other operand of the dot is computed";
    }
  }

  /// Returns true if threads load an operand of the dot, because its load was not raised.
  bool copiesByThreads(DotOp dot) {
    return llvm::any_of(ArrayRef<Value>{dot.getA(), dot.getB()}, [&](Value operand) {
      Operation *load = traceOperand(operand).source;
      return isa_and_present<LoadOp>(load) && !raised.contains(load);
    });
  }

  /// Skips loops in which threads copy operands and wait for these copies: a producer for the other operands would gain
  /// nothing, and would take registers.
  void leaveMixedLoops() {
    DenseSet<Operation *> mixed;
    kernel.walk([&](DotOp dot) {
      for (Value operand : {dot.getA(), dot.getB()})
        if (auto load = dyn_cast_if_present<LoadOp>(traceOperand(operand).source))
          if (load->getBlock() == dot->getBlock() && !raised.contains(load))
            mixed.insert(dot->getParentOp());
    });
    leave("operands of another dot of the loop cannot use it", [&](scf::ForOp loop) { return mixed.contains(loop); });
  }

  /// Skips loops whose threads would spill if a producer took registers.
  void leaveFullLoops() {
    if (target.has(target::Feature::Tcgen05)) // a producer is one warp, and takes none
      return;
    std::optional<target::RoleRegisters> budget = target::planRoleRegisters(target, kernel.getNumWarps());
    int64_t threads = kernel.getNumWarps() * target::threadsPerWarp;
    leave("the loop's accumulators leave no registers for a producer warp", [&](scf::ForOp loop) {
      constexpr int64_t lanesOfRow = 4, bytesOfRegister = 4;
      int64_t bytes = 0, ofVectors = 0, dots = 0;
      for (auto dot : loop.getBody()->getOps<DotOp>()) {
        ++dots;
        if (!dot.getAcc().getDefiningOp<DotOp>())
          bytes += LayoutSlicer::bytesOf(dot.getResult());
        if (!isa_and_present<LoadOp, DescLoadOp>(traceOperand(dot.getA()).source))
          bytes += LayoutSlicer::bytesOf(dot.getA());
      }
      for (auto load : loop.getBody()->getOps<LoadOp>())
        if (auto type = dyn_cast<RankedTensorType>(load.getType()); type && type.getRank() == 1)
          ofVectors += type.getNumElements() / lanesOfRow;
      int64_t registers = bytes / bytesOfRegister / threads + ofVectors + target::tunedOf(target).spareRegistersAhead;
      return budget && dots > 1 && registers > budget->consumer;
    });
  }

  void leave(const char *reason, llvm::function_ref<bool(scf::ForOp)> isLeft) {
    for (DotOp dot : worthwhile)
      if (auto loop = dyn_cast<scf::ForOp>(dot->getParentOp()); loop && isLeft(loop))
        for (Value operand : {dot.getA(), dot.getB()})
          if (Operation *load = traceOperand(operand).source; raised.contains(load)) {
            raised.erase(load);
            reasons[load] = reason;
          }
  }

  std::string whyNotMultiplied(DotOp dot, ArrayRef<SharedOperand> operands) {
    if (!isa_and_present<LoadOp, DescLoadOp>(operands[0].source))
      return "wgmma does not support these types, sizes or operand layouts";
    return whyNoWgmmaOfBlocks(dot, accesses.isReadTransposed(operands[0]), accesses.isReadTransposed(operands[1]),
                              target, kernel.getNumWarps());
  }

  void planStore(StoreOp store) {
    auto type = dyn_cast<RankedTensorType>(store.getPtr().getType());
    if (!type || type.getRank() < 2)
      return;
    BlockAccessResult result = accesses.get(store);
    if (result.access)
      raised.try_emplace(store, *result.access);
    else
      reasons[store] = result.reason;
  }

  KernelOp kernel;
  RaisableAccesses &accesses;
  const target::GpuTarget &target;
  RaisePlan raised;
  llvm::MapVector<Operation *, std::string> reasons; ///< Why an access is not raised.
  SmallVector<DotOp> worthwhile;                     ///< Dots whose operands come through descriptors or from
                                                     ///< registers.
  bool isOfSingleSteps = false;
};

// Rewriting of the accesses.

/// Emits polynomials, either with the original factors or with copies of the factors at the kernel's entry.
class PolynomialEmitter {
public:
  PolynomialEmitter(OpBuilder &builder, Location location) : builder(builder), location(location) {}

  Value emit(const Polynomial &number, Type type) {
    Value sum;
    for (const Polynomial::Term &term : number.getTerms()) {
      // The first term of a sum carries its sign; the others are added or subtracted.
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

  /// Makes emit() recompute factors from the kernel's arguments.
  void copyFactors() { copy = true; }

private:
  Value emitConstant(int64_t value, Type type) {
    return arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, value));
  }

  Value emitTerm(const Polynomial::Term &term, int64_t coefficient, Type type) {
    Value product;
    for (Value factor : term.factors) {
      factor = copy ? emitCopy(factor) : factor;
      unsigned width = factor.getType().getIntOrFloatBitWidth();
      if (width < type.getIntOrFloatBitWidth())
        factor = arith::ExtSIOp::create(builder, location, type, factor);
      else if (width > type.getIntOrFloatBitWidth()) // not larger than a 32-bit value (BlockPointers)
        factor = arith::TruncIOp::create(builder, location, type, factor);
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
  if (!access.isFromMemory())
    emitter.copyFactors();
  SmallVector<Value> shape, strides;
  for (const Polynomial &extent : access.shape) {
    Value size = emitter.emit(extent, builder.getI32Type());
    // A negative extent excludes all elements, as an extent of zero does.
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

/// Emits the coordinates outside of the loops in which they are invariant.
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

/// Adds or removes leading dimensions of size 1.
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
    // Permutes the dimensions from memory order back to the order of the access.
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

/// Returns true if `argument` is used only to compute its value in the next iteration.
bool hasNoOtherUse(scf::ForOp loop, BlockArgument argument) {
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

/// Stops advancing pointers that have no other uses; canonicalization then removes them.
void stopDeadPointers(KernelOp kernel) {
  kernel.walk([](scf::ForOp loop) {
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (loop.getTiedLoopResult(argument).use_empty() && hasNoOtherUse(loop, argument))
        loop.getTiedLoopYieldedValue(argument)->set(argument);
  });
}

struct TileRaiseDescriptors : tile::impl::TileRaiseDescriptorsBase<TileRaiseDescriptors> {
  void runOnKernel() override {
    const target::GpuTarget &gpu = cta::getTarget(getOperation());
    if (!gpu.has(target::Feature::Tma))
      return;
    RaisePlan plan = Planner(getOperation(), getAnalysis<RaisableAccesses>(), gpu).plan();
    if (plan.empty())
      return;
    OpBuilder entry(getOperation().getContext());
    entry.setInsertionPointToStart(&getOperation().getBody().front());
    for (auto &[op, access] : plan) {
      OpBuilder builder = entry;
      if (access.isFromMemory())
        builder.setInsertionPointAfter(RaisableAccesses::findPlace(cast<LoadOp>(op), access));
      rewriteAccess(op, access, emitDescriptor(builder, access, op->getLoc()));
    }
    stopDeadPointers(getOperation());
  }
};

} // namespace
