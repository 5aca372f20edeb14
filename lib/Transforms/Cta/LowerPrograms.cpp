// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-lower-programs: turn the programs of a CTA into loops.
//
//   tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid> { body }
//   ==>
//   for (p = CTA; p < x * y * z; p += CTAs)  { i, j, k = p mod x, p / x mod y, p / (x * y); body }
//
// `transposed`: with y fastest; `swizzle2d`: and i, j in groups along x. With a cluster of M x N programs the loop goes
// over groups, and each CTA takes the program of its rank. Groups are ordered, not programs, else neighbours would be
// torn apart; at the edge of the grid some programs do not exist, whose CTAs run the nearest one and write nothing:
//
//   for (g = cluster; g < x/M * y/N * z; g += clusters) { i, j = (g mod x/M) * M + rank mod M, …; body }
//
// Where the CTAs of a cluster share the K steps of a program, the first one gets the others' accumulators through
// distributed shared memory, in the order of ranks, and finishes the program. Unlike a shared tail
// (Cta/StreamSegments.h) this needs no global memory, no flags and no schedule, but all programs are split alike:
//
//   { A; acc = …; B(combine acc) }   ==>   { A; acc = …; sum = cluster_sum acc; if rank == 0 { B(sum) } }
#include "Transforms/Cta/LowerPrograms.h"

#include "Layout/SharedLayouts.h"
#include "Target/GpuTarget.h"
#include "Transforms/Cta/StreamSegments.h"
#include "Transforms/Numbers.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tile {
#define GEN_PASS_DEF_CTALOWERPROGRAMS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

cta::BufferType tile::planExchangeBuffer(RankedTensorType sum, int64_t ctas) {
  const layout::LinearLayout &layout = cta::getLayout(sum);
  int64_t words = layout.numRegisters() * layout.numWarps() * target::threadsPerWarp;
  MLIRContext *context = sum.getContext();
  auto places = cta::LayoutAttr::get(context, layout::swizzledShared({words}, 4, {0}, /*swizzleBytes=*/0));
  return cta::BufferType::get(context, {words}, sum.getElementType(), places, /*slots=*/ctas - 1);
}

namespace {

constexpr unsigned numAxes = ProgramsOp::numAxes;

class ProgramsLowering {
public:
  ProgramsLowering(KernelOp kernel, ProgramsOp programs)
      : kernel(kernel), programs(programs), work(programs.getWork()), rewriter(programs), loc(programs.getLoc()),
        sizes(programs.getSizes()), extents(work.getClusterShape()),
        fastest(work.getOrder() == WorkOrder::grid ? 0 : 1) {}

  void run() {
    if (work.getTail())
      return lowerToSegments(programs, emitCount(sizes[0], sizes[1]), rewriter, [&](Value number) {
        replaceCoordinates(emitPlace(number, sizes[0], sizes[1], work.getGroup()));
      });
    if (work.getSplitK() != 1)
      return lowerSplit();
    if (work.getCluster())
      return lowerClusters();
    scf::ForOp loop = emitLoop<ProgramIdOp, NumProgramsOp>(emitCount(sizes[0], sizes[1]));
    enter(loop);
    replaceCoordinates(emitPlace(loop.getInductionVar(), sizes[0], sizes[1], work.getGroup()));
    moveBodyTo(loop);
  }

private:
  using Place = std::array<Value, numAxes>;

  Value emitCount(Value x, Value y) {
    Numbers n(rewriter, loc);
    return n.mul(n.mul(x, y), sizes[2]);
  }

  /// From the number of this CTA, or cluster, on by the number of all.
  template <typename IdOp, typename NumberOp> scf::ForOp emitLoop(Value count, ValueRange inits = {}) {
    Value first, step;
    if constexpr (std::is_same_v<IdOp, ProgramIdOp>) {
      first = IdOp::create(rewriter, loc, 0);
      step = NumberOp::create(rewriter, loc, 0);
    } else {
      first = IdOp::create(rewriter, loc);
      step = NumberOp::create(rewriter, loc);
    }
    return scf::ForOp::create(rewriter, loc, first, count, step, inits);
  }

  void enter(scf::ForOp loop) { rewriter.setInsertionPointToStart(loop.getBody()); }

  /// Where program `number` lies in a grid, or in a grid of groups, of this size.
  Place emitPlace(Value number, Value sizeX, Value sizeY, int64_t group) {
    const std::array<Value, 2> grid{sizeX, sizeY};
    const unsigned slowest = 1 - fastest;
    Place place;
    place[fastest] = arith::RemUIOp::create(rewriter, loc, number, grid[fastest]);
    Value rest = arith::DivUIOp::create(rewriter, loc, number, grid[fastest]);
    place[slowest] = arith::RemUIOp::create(rewriter, loc, rest, grid[slowest]);
    place[2] = arith::DivUIOp::create(rewriter, loc, rest, grid[slowest]);
    if (work.getOrder() == WorkOrder::swizzle2d) {
      Location line = programs.getCoordinates()[0].getLoc();
      Value rows = emitI32(rewriter, loc, group);
      auto order = Swizzle2dOp::create(rewriter, line, place[0], place[1], sizeX, sizeY, rows);
      place[0] = order.getNewI();
      place[1] = order.getNewJ();
    }
    return place;
  }

  void replaceCoordinates(const Place &place, Value exists = {}) {
    if (!exists && !programs.getExists().use_empty())
      exists = arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
    if (exists)
      programs.getExists().replaceAllUsesWith(exists);
    for (auto [coordinate, value] : llvm::zip_equal(programs.getCoordinates(), place))
      coordinate.replaceAllUsesWith(value);
    eraseDead(place);
  }

  /// A grid may have fewer axes, and a program may not ask for all. Only the arithmetic of places: the branch that
  /// gives a segment's program also gives its steps, which nothing takes yet.
  void eraseDead(const Place &place) {
    llvm::SetVector<Operation *> worklist;
    auto addSource = [&](Value value) {
      if (Operation *op = value.getDefiningOp(); op && op->getNumRegions() == 0)
        worklist.insert(op);
    };
    llvm::for_each(place, addSource);
    while (!worklist.empty()) {
      Operation *op = worklist.pop_back_val();
      if (!isOpTriviallyDead(op))
        continue;
      llvm::for_each(op->getOperands(), addSource);
      rewriter.eraseOp(op);
    }
  }

  /// Before `place`, at the end of what is done for a program.
  void moveBody(Block *block, Block::iterator place) {
    Block &body = programs.getBody().front();
    rewriter.eraseOp(body.getTerminator());
    block->getOperations().splice(place, body.getOperations());
    rewriter.eraseOp(programs);
  }
  void moveBodyTo(scf::ForOp loop) { moveBody(loop.getBody(), loop.getBody()->getTerminator()->getIterator()); }

  void lowerClusters() {
    Value rank = cta::ClusterRankOp::create(rewriter, loc);
    std::array<Value, 2> groups;
    for (unsigned axis = 0; axis < 2; ++axis)
      groups[axis] = emitGroups(sizes[axis], extents[axis]);
    scf::ForOp loop = emitLoop<cta::ClusterIdOp, cta::NumClustersOp>(emitCount(groups[0], groups[1]));
    enter(loop);
    int64_t group = llvm::divideCeil(work.getGroup(), extents[0]);
    Place place = emitPlace(loop.getInductionVar(), groups[0], groups[1], group);
    Value exists = moveToRank(place, rank);
    replaceCoordinates(place, exists);
    moveBodyTo(loop);
    kernel.setClusterCtas(extents[0] * extents[1]);
  }

  Value emitGroups(Value size, int64_t extent) {
    Numbers n(rewriter, loc);
    return extent == 1 ? size : n.div(n.add(size, n.constant(extent - 1)), n.constant(extent));
  }

  /// From a group's place to that of the program of this CTA's rank. Returns whether it exists; if not, the place is
  /// that of the last one, since a load without a mask would leave its tensor.
  Value moveToRank(Place &place, Value rank) {
    Numbers n(rewriter, loc);
    Value row = extents[1] == 1 ? rank : arith::RemUIOp::create(rewriter, loc, rank, n.constant(extents[0]));
    Value column = extents[0] == 1 ? rank : n.div(rank, n.constant(extents[0]));
    Value ranks[2] = {row, column}, exists;
    for (unsigned axis = 0; axis < 2; ++axis) {
      if (extents[axis] == 1)
        continue;
      place[axis] = n.add(n.mul(place[axis], n.constant(extents[axis])), ranks[axis]);
      Value inside = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, place[axis], sizes[axis]);
      exists = exists ? n.both(exists, inside) : inside;
      place[axis] = arith::MinUIOp::create(rewriter, loc, place[axis], n.sub(sizes[axis], n.constant(1)));
    }
    return exists;
  }

  /// Where the CTAs of a cluster add up, one accumulator after the other: memory for the largest, and barriers.
  struct Exchange {
    Value memory, sent, taken;
  };

  Exchange allocateExchange(ArrayRef<cta::CombineOp> combines) {
    cta::BufferType largest;
    for (cta::CombineOp combine : combines) {
      cta::BufferType type = planExchangeBuffer(cast<RankedTensorType>(combine.getType()), work.getSplitK());
      if (!largest || largest.getBytes() < type.getBytes())
        largest = type;
    }
    auto barrier = cta::MbarrierType::get(kernel.getContext(), /*slots=*/1);
    rewriter.setInsertionPointToStart(&kernel.getBody().front());
    Exchange exchange;
    exchange.memory = cta::AllocOp::create(rewriter, loc, largest, /*offset=*/IntegerAttr());
    exchange.sent = cta::MbarrierAllocOp::create(rewriter, loc, barrier, /*arrivals=*/1, /*offset=*/IntegerAttr());
    exchange.taken =
        cta::MbarrierAllocOp::create(rewriter, loc, barrier, kernel.getNumWarps(), /*offset=*/IntegerAttr());
    return exchange;
  }

  void lowerSplit() {
    auto combines = llvm::to_vector(programs.getBody().getOps<cta::CombineOp>());
    Exchange exchange = allocateExchange(combines);
    Value rank = cta::ClusterRankOp::create(rewriter, loc);
    programs.getFirstStep().replaceAllUsesWith(rank);

    rewriter.setInsertionPoint(programs);
    Value zero = emitI32(rewriter, loc, 0);
    if (work.getPersistent()) {
      auto loop = emitLoop<cta::ClusterIdOp, cta::NumClustersOp>(emitCount(sizes[0], sizes[1]), zero);
      Value parity = loop.getRegionIterArg(0);
      enter(loop);
      replaceCoordinates(emitPlace(loop.getInductionVar(), sizes[0], sizes[1], work.getGroup()));
      Value next = finishInFirst(combines, exchange, rank, parity);
      moveBody(loop.getBody(), loop.getBody()->end());
      rewriter.setInsertionPointToEnd(loop.getBody());
      scf::YieldOp::create(rewriter, loc, next);
    } else {
      replaceCoordinates({cta::ClusterIdOp::create(rewriter, loc), ProgramIdOp::create(rewriter, loc, 1),
                          ProgramIdOp::create(rewriter, loc, 2)});
      finishInFirst(combines, exchange, rank, zero);
      moveBody(programs->getBlock(), programs->getIterator());
    }
    rewriter.setInsertionPoint(kernel.getBody().front().getTerminator());
    cta::ClusterBarrierOp::create(rewriter, loc);
    kernel.setClusterCtas(work.getSplitK());
  }

  /// What follows in the program is for the first CTA, which has the whole sums. Returns the parity of the next sum.
  Value finishInFirst(ArrayRef<cta::CombineOp> combines, const Exchange &exchange, Value rank, Value parity) {
    Block &body = programs.getBody().front();
    Operation *last = cta::CombineOp(combines.back());
    rewriter.setInsertionPoint(last);
    Numbers n(rewriter, loc);
    for (cta::CombineOp combine : combines) {
      Value sum = cta::ClusterSumOp::create(rewriter, loc, combine.getValue(), exchange.memory, exchange.sent,
                                            exchange.taken, parity, work.getSplitK());
      rewriter.replaceAllUsesWith(combine.getResult(), sum);
      parity = n.flip(parity);
    }
    auto branch = scf::IfOp::create(rewriter, loc, n.equal(rank, n.constant(0)), /*withElseRegion=*/false);
    branch.thenBlock()->getOperations().splice(branch.thenBlock()->begin(), body.getOperations(),
                                               std::next(last->getIterator()), body.getTerminator()->getIterator());
    for (cta::CombineOp combine : combines)
      rewriter.eraseOp(combine);
    return parity;
  }

  KernelOp kernel;
  ProgramsOp programs;
  WorkAttr work;
  IRRewriter rewriter;
  Location loc;
  SmallVector<Value> sizes;       ///< Of the grid.
  std::array<int32_t, 2> extents; ///< Programs of a cluster along the first two axes.
  unsigned fastest;               ///< The axis along which programs with consecutive numbers lie.
};

/// Whether the kernel's clusters are those that `work` is for, and CTAs that share steps add up. Emits an error if not.
LogicalResult verifyWork(KernelOp kernel, ProgramsOp programs) {
  WorkAttr work = programs.getWork();
  auto [alongX, alongY] = work.getClusterShape();
  std::array<int32_t, 3> needed{alongX, alongY, work.getSplitK()};
  ArrayRef<int32_t> shape = kernel.getCluster().value_or(ArrayRef<int32_t>());
  if ((work.getCluster() || work.getSplitK() != 1) && shape != ArrayRef(needed))
    return programs.emitOpError() << "deals work out to clusters of [" << ArrayRef(needed)
                                  << "] CTAs but the kernel's are [" << shape << "]";
  auto all = programs.getBody().getOps<cta::CombineOp>();
  if (work.splitsSteps() && all.empty())
    return programs.emitOpError() << "has no cta.combine; CTAs that share its K steps need one";
  for (cta::CombineOp combine : all)
    if (combine != *all.begin() && !isa<cta::CombineOp>(combine->getPrevNode()))
      return combine.emitOpError() << "follows '" << combine->getPrevNode()->getName()
                                   << "'; expected those of a program in a row";
  return success();
}

struct CtaLowerPrograms : tile::impl::CtaLowerProgramsBase<CtaLowerPrograms> {
  void runOnKernel() override {
    while (ProgramsOp programs = getOperation().getPrograms()) {
      if (failed(verifyWork(getOperation(), programs)))
        return signalPassFailure();
      ProgramsLowering(getOperation(), programs).run();
    }
  }
};

} // namespace
