// tile-form-clusters: let the CTAs of a cluster run neighbouring programs.
//
// Of a persistent kernel whose `cluster` is M x N x 1. The loop over programs becomes one over groups of M x N
// programs, and each CTA takes the one of its rank, so neighbours read the same rows or columns at the same time:
//
//   for (p = CTA; p < x * y * z; p += CTAs)            { i, j = p mod x, p / x mod y; body }
//   ==>
//   for (g = cluster; g < x/M * y/N * z; g += clusters) { i, j = (g mod x/M) * M + rank mod M, …; body }
//
// (or with y fastest, as the loop over programs has it).
//
// A program that orders itself by tile.swizzle2d is grouped after that, else neighbours would be torn apart. All CTAs
// of a cluster must go through all loads together, so groups at the edge of the grid have programs that do not exist:
// they copy what they like by tensor maps, but what else they would do to memory is predicated off.
#include "Analysis/FindTarget.h"
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Numbers.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile {
#define GEN_PASS_DEF_TILEFORMCLUSTERS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

constexpr unsigned numAxes = 3;

/// The loop that tile-make-persistent makes.
struct ProgramLoop {
  scf::ForOp loop;
  Value sizes[numAxes];       ///< Of the grid.
  unsigned fastest = 0;       ///< The axis along which consecutive programs lie: 0 or 1.
  arith::RemUIOp fast, slow;  ///< A program's index along that axis, and along the other.
  arith::DivUIOp rest, third; ///< What the fast index leaves; the index along the last axis.
  Operation *tail = nullptr;  ///< The first operation that accesses memory other than by reads through descriptors.
};

bool isGridSize(KernelOp kernel, Value value, unsigned axis) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return false;
  auto attribute = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), KernelOp::getGridSizeAttrName());
  return attribute && attribute.getInt() == axis;
}

std::optional<ProgramLoop> findPrograms(KernelOp kernel) {
  ProgramLoop programs;
  for (auto loop : kernel.getBody().front().getOps<scf::ForOp>()) {
    auto id = loop.getLowerBound().getDefiningOp<ProgramIdOp>();
    auto step = loop.getStep().getDefiningOp<NumProgramsOp>();
    if (id && step && id.getAxis() == 0 && step.getAxis() == 0 && loop.getNumResults() == 0)
      programs.loop = loop;
  }
  if (!programs.loop)
    return std::nullopt;
  Value index = programs.loop.getInductionVar(), rest;
  for (Operation &op : *programs.loop.getBody()) {
    auto remainder = dyn_cast<arith::RemUIOp>(op);
    auto quotient = dyn_cast<arith::DivUIOp>(op);
    for (unsigned axis = 0; axis < 2; ++axis)
      if (remainder && remainder.getLhs() == index && isGridSize(kernel, remainder.getRhs(), axis)) {
        programs.fast = remainder;
        programs.fastest = axis;
      }
    const unsigned slowest = 1 - programs.fastest;
    if (quotient && quotient.getLhs() == index && isGridSize(kernel, quotient.getRhs(), programs.fastest))
      rest = programs.rest = quotient;
    if (remainder && remainder.getLhs() == rest && isGridSize(kernel, remainder.getRhs(), slowest))
      programs.slow = remainder;
    if (quotient && quotient.getLhs() == rest && isGridSize(kernel, quotient.getRhs(), slowest))
      programs.third = quotient;
  }
  if (!programs.fast || !programs.slow || !programs.third)
    return std::nullopt;
  programs.sizes[programs.fastest] = programs.fast.getRhs();
  programs.sizes[1 - programs.fastest] = programs.slow.getRhs();
  for (BlockArgument argument : kernel.getBody().front().getArguments())
    if (isGridSize(kernel, argument, 2))
      programs.sizes[2] = argument;
  return programs.sizes[2] ? std::optional(programs) : std::nullopt;
}

/// Whether a program that does not exist must not execute this: it may access memory, stop the kernel, or not end.
bool isForExistingPrograms(Operation *op) {
  return op
      ->walk([](Operation *nested) {
        bool isControl = nested->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
        bool isHarmless = isControl || isa<DescLoadOp, AssumeOp>(nested) || isMemoryEffectFree(nested);
        return isHarmless && !isa<scf::WhileOp>(nested) ? WalkResult::advance() : WalkResult::interrupt();
      })
      .wasInterrupted();
}

class ClusterFormation {
public:
  ClusterFormation(KernelOp kernel, ProgramLoop programs, unsigned rows, unsigned columns)
      : kernel(kernel), programs(programs), extents{rows, columns}, builder(programs.loop),
        loc(programs.loop.getLoc()) {}

  void run() {
    Value rank = cta::ClusterRankOp::create(builder, loc);
    Value groups[2];
    for (unsigned axis = 0; axis < 2; ++axis)
      groups[axis] = emitCeilDiv(programs.sizes[axis], extents[axis]);
    Value count = mul(mul(groups[0], groups[1]), programs.sizes[2]);
    programs.loop.setLowerBound(cta::ClusterIdOp::create(builder, loc));
    programs.loop.setUpperBound(count);
    programs.loop.setStep(cta::NumClustersOp::create(builder, loc));

    // The group's index, then the program's.
    const unsigned fastest = programs.fastest, slowest = 1 - fastest;
    Operation *fast = programs.fast, *quotient = programs.rest;
    builder.setInsertionPoint(fast->isBeforeInBlock(quotient) ? fast : quotient);
    Value index = programs.loop.getInductionVar();
    Value rest = arith::DivUIOp::create(builder, loc, index, groups[fastest]);
    Value place[2], replaced[2];
    place[fastest] = arith::RemUIOp::create(builder, loc, index, groups[fastest]);
    place[slowest] = arith::RemUIOp::create(builder, loc, rest, groups[slowest]);
    programs.third.replaceAllUsesWith(arith::DivUIOp::create(builder, loc, rest, groups[slowest]).getResult());
    replaced[fastest] = programs.fast;
    replaced[slowest] = programs.slow;
    Swizzle2dOp order = findOrder();
    if (order) {
      builder.setInsertionPoint(order);
      auto grouped = Swizzle2dOp::create(builder, loc, place[0], place[1], groups[0], groups[1],
                                         emitCeilDiv(order.getSizeG(), extents[0]));
      place[0] = grouped.getNewI();
      place[1] = grouped.getNewJ();
      replaced[0] = order.getNewI();
      replaced[1] = order.getNewJ();
    }
    Value rankRow =
        extents[1] == 1 ? rank : arith::RemUIOp::create(builder, loc, rank, emitI32(builder, loc, extents[0]));
    Value rankColumn =
        extents[0] == 1 ? rank : arith::DivUIOp::create(builder, loc, rank, emitI32(builder, loc, extents[0]));
    Value ranks[2] = {rankRow, rankColumn}, exists;
    for (unsigned axis = 0; axis < 2; ++axis) {
      if (extents[axis] != 1) {
        place[axis] =
            arith::AddIOp::create(builder, loc, mul(place[axis], emitI32(builder, loc, extents[axis])), ranks[axis]);
        Value inside =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place[axis], programs.sizes[axis]);
        exists = exists ? arith::AndIOp::create(builder, loc, exists, inside).getResult() : inside;
        // Programs beyond the edge copy what the last one does: a load without a mask would leave its tensor.
        Value last = arith::SubIOp::create(builder, loc, programs.sizes[axis], emitI32(builder, loc, 1));
        place[axis] = arith::MinUIOp::create(builder, loc, place[axis], last);
      }
      replaced[axis].replaceAllUsesWith(place[axis]);
    }
    guardTail(exists);
    kernel.setClusterCtas(extents[0] * extents[1]);
  }

private:
  Value mul(Value a, Value b) { return arith::MulIOp::create(builder, loc, a, b); }
  Value emitCeilDiv(Value a, unsigned b) {
    if (b == 1)
      return a;
    Value padded = arith::AddIOp::create(builder, loc, a, emitI32(builder, loc, b - 1));
    return arith::DivUIOp::create(builder, loc, padded, emitI32(builder, loc, b));
  }

  /// The operation that turns the grid's indices into the program's, if nothing else uses them.
  Swizzle2dOp findOrder() {
    if (!programs.fast->hasOneUse() || !programs.slow->hasOneUse())
      return {};
    Value indices[2];
    indices[programs.fastest] = programs.fast;
    indices[1 - programs.fastest] = programs.slow;
    auto order = dyn_cast<Swizzle2dOp>(*programs.fast->user_begin());
    bool isWhole = order && order.getI() == indices[0] && order.getJ() == indices[1] &&
                   order.getSizeI() == programs.sizes[0] && order.getSizeJ() == programs.sizes[1] &&
                   order->getBlock() == programs.loop.getBody();
    return isWhole ? order : Swizzle2dOp();
  }

  void guardTail(Value exists) {
    if (!programs.tail)
      return;
    builder.setInsertionPoint(programs.tail);
    auto guard = scf::IfOp::create(builder, loc, exists, /*withElseRegion=*/false);
    Operation *end = programs.loop.getBody()->getTerminator();
    for (Operation *op = programs.tail, *next; op != end; op = next) {
      next = op->getNextNode();
      op->moveBefore(guard.thenBlock()->getTerminator());
    }
  }

  KernelOp kernel;
  ProgramLoop programs;
  unsigned extents[2]; ///< Programs of a group along the first two axes.
  OpBuilder builder;
  Location loc;
};

struct TileFormClusters : tile::impl::TileFormClustersBase<TileFormClusters> {
  using TileFormClustersBase::TileFormClustersBase;

  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget *gpu = findTargetOrEmitError(target, kernel);
    if (!gpu)
      return signalPassFailure();
    std::optional<ArrayRef<int32_t>> shape = kernel.getCluster();
    // The steps of a program are split elsewhere, and not for neighbours.
    if (!shape || (*shape)[0] * (*shape)[1] == 1 || (*shape)[2] != 1)
      return;
    if (!gpu->has(target::Feature::Clusters))
      return refuse("the target has no clusters");
    std::optional<ProgramLoop> programs = findPrograms(kernel);
    if (!programs)
      return refuse("the kernel is not persistent, because it reads no dot operands by TMA");
    // Each CTA's are its own, so that nothing would be shared.
    if (kernel.walk([](MakeDescOp desc) { return WalkResult::interrupt(); }).wasInterrupted())
      return refuse("the kernel makes tensor maps itself");
    for (Operation &op : programs->loop.getBody()->without_terminator())
      if (!programs->tail && isForExistingPrograms(&op))
        programs->tail = &op;
    for (Operation *op = programs->tail; op; op = op->getNextNode())
      if (op->walk([](DescLoadOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return refuse(
            "a program accesses memory through pointers, or runs a while loop, before it has read all its blocks");
    dropAssumptions(programs->loop);
    ClusterFormation(kernel, *programs, (*shape)[0], (*shape)[1]).run();
  }

private:
  void refuse(StringRef reason) { getOperation().emitRemark() << "no clusters: " << reason; }

  /// What a program promises need not hold for one that does not exist.
  void dropAssumptions(scf::ForOp loop) {
    SmallVector<AssumeOp> assumptions;
    loop.walk([&](AssumeOp op) { assumptions.push_back(op); });
    for (AssumeOp op : assumptions)
      op.erase();
  }
};

} // namespace
