// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-lower-programs: lower the programs of a CTA to loops.
//
//   tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid> { body }
//   ==>
//   for (p = CTA; p < x * y * z; p += CTAs)  { i, j, k = p mod x, p / x mod y, p / (x * y); body }
//
// In order `transposed`, y varies fastest. In order `swizzle2d`, programs are visited in groups along x. With clusters,
// programs form groups of M x N; the loop runs over these groups, and each CTA of a cluster takes the program of its
// rank. The order applies to groups rather than programs, because otherwise neighbouring programs would be in different
// clusters. At the edge of the grid, CTAs whose program does not exist run the nearest one and write nothing:
//
//   for (g = cluster; g < x/M * y/N * z; g += clusters) { i, j = (g mod x/M) * M + rank mod M, …; body }
//
// Teams alternate between the programs of their CTA. All roles iterate over the same programs. Values that all roles
// need are computed once, before the roles, except values that depend on the CTA's index: sharing these values does not
// make the compiled code shorter, and takes registers that epilogues need.
#include "Analysis/Flow/Recreate.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Cta/StreamSegments.h"
#include "Transforms/I32Arith.h"
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

namespace {

constexpr unsigned numAxes = ProgramsOp::numAxes;

/// Lowers the programs of a CTA, in all of its roles.
class ProgramsLowering {
public:
  /// Computes, before `outer`, the values that the roles share; `outer` is the operation that contains the roles.
  ProgramsLowering(ProgramsOp programs, Operation *outer)
      : work(programs.getWork()), rewriter(outer), loc(programs.getLoc()), sizes(programs.getSizes()),
        extents(work.getClusterShape()), fastest(work.getOrder() == WorkOrder::grid ? 0 : 1) {
    if (isOfClusters())
      rank = cta::ClusterRankOp::create(rewriter, loc);
    for (unsigned axis = 0; axis < 2; ++axis)
      groups[axis] = emitGroups(sizes[axis], extents[axis]);
    I32Arith n(rewriter, loc);
    count = n.mul(n.mul(groups[0], groups[1]), sizes[2]);
    if (isOfClusters())
      first = cta::ClusterIdOp::create(rewriter, loc);
    else if (outer == programs)
      first = ProgramIdOp::create(rewriter, loc, 0);
    step = isOfClusters() ? cta::NumClustersOp::create(rewriter, loc).getResult()
                          : NumProgramsOp::create(rewriter, loc, 0).getResult();
    if (work.getTail())
      tail = emitTailPlan(programs, count, step, rewriter);
  }

  /// Replaces the programs of one role.
  void run(ProgramsOp programs) {
    rewriter.setInsertionPoint(programs);
    Value begin = first ? first : ProgramIdOp::create(rewriter, loc, 0).getResult();
    if (work.getTail())
      return lowerToSegments(programs, tail, begin, rewriter,
                             [&](Value number) { replaceCoordinates(programs, number); });
    auto sums = llvm::to_vector(programs.getBody().getOps<cta::ClusterSumOp>());
    SmallVector<Value> inits;
    if (!sums.empty())
      inits.push_back(emitI32(rewriter, loc, 0));
    Value stride = step;
    if (std::optional<cta::Role> role = cta::findRole(programs); role && role->getAttr().getTeams() > 1) {
      I32Arith n(rewriter, loc);
      begin = n.add(begin, n.mul(cta::TeamOp::create(rewriter, loc), step));
      stride = n.mul(step, n.constant(role->getAttr().getTeams()));
    }
    auto loop = scf::ForOp::create(rewriter, loc, begin, count, stride, inits);
    rewriter.setInsertionPointToStart(loop.getBody());
    replaceCoordinates(programs, loop.getInductionVar());
    if (work.getSplitK() != 1)
      programs.getFirstStep().replaceAllUsesWith(rank);
    SmallVector<Value> next = countSums(sums, loop.getRegionIterArgs());
    Block &body = programs.getBody().front();
    rewriter.eraseOp(body.getTerminator());
    if (inits.empty())
      rewriter.eraseOp(loop.getBody()->getTerminator());
    loop.getBody()->getOperations().splice(loop.getBody()->end(), body.getOperations());
    rewriter.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(rewriter, loc, next);
    rewriter.eraseOp(programs);
  }

private:
  using Coordinates = std::array<Value, numAxes>;

  bool isOfClusters() const { return work.getCluster() || work.getSplitK() != 1; }

  /// Assigns a parity to each cluster sum, and returns the first parity of the next program; empty if there are no
  /// sums.
  SmallVector<Value> countSums(ArrayRef<cta::ClusterSumOp> sums, ValueRange parities) {
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Value> next(parities);
    for (cta::ClusterSumOp sum : sums) {
      sum.getParityMutable().assign(next.front());
      rewriter.setInsertionPointAfter(sum);
      next.front() = I32Arith(rewriter, loc).flip(next.front());
    }
    return next;
  }

  /// Replaces the block arguments of the programs by the coordinates of the program, or group of programs, with index
  /// `number`.
  void replaceCoordinates(ProgramsOp programs, Value number) {
    Coordinates coordinates = emitCoordinates(programs, number);
    Value exists = moveToRank(coordinates);
    if (!exists && !programs.getExists().use_empty())
      exists = arith::ConstantOp::create(rewriter, loc, rewriter.getBoolAttr(true));
    if (exists)
      programs.getExists().replaceAllUsesWith(exists);
    for (auto [coordinate, value] : llvm::zip_equal(programs.getCoordinates(), coordinates))
      coordinate.replaceAllUsesWith(value);
    SmallVector<Value> made(coordinates.begin(), coordinates.end());
    if (exists)
      made.push_back(exists);
    // A grid may have fewer axes, and a program may not use all of them. Only the coordinate arithmetic is erased: the
    // branch that selects a segment's program also yields its steps, which are still unused here.
    eraseIfUnused(made, /*note=*/{}, rewriter.getInsertionBlock());
  }

  Coordinates emitCoordinates(ProgramsOp programs, Value number) {
    I32Arith n(rewriter, loc);
    auto rem = [&](Value a, Value b) -> Value { return arith::RemUIOp::create(rewriter, loc, a, b); };
    if (work.getOrder() == WorkOrder::swizzle2d) {
      Value plane = n.mul(groups[0], groups[1]), rows = n.constant(llvm::divideCeil(work.getGroup(), extents[0]));
      Location line = programs.getCoordinates()[0].getLoc();
      auto [i, j] = Swizzle2dOp::expand(rewriter, line, rem(number, plane), groups[0], groups[1], rows);
      return {i, j, n.div(number, plane)};
    }
    const unsigned slowest = 1 - fastest;
    Coordinates coordinates;
    coordinates[fastest] = rem(number, groups[fastest]);
    Value remainder = n.div(number, groups[fastest]);
    coordinates[slowest] = rem(remainder, groups[slowest]);
    coordinates[2] = n.div(remainder, groups[slowest]);
    return coordinates;
  }

  Value emitGroups(Value size, int64_t extent) {
    I32Arith n(rewriter, loc);
    return extent == 1 ? size : n.div(n.add(size, n.constant(extent - 1)), n.constant(extent));
  }

  /// Moves the coordinates from the group to the program of this CTA's rank, and returns whether that program exists.
  /// If not, uses the coordinates of the last program instead, because an unmasked load would be out of bounds.
  Value moveToRank(Coordinates &coordinates) {
    I32Arith n(rewriter, loc);
    Value row = extents[1] == 1 ? rank : arith::RemUIOp::create(rewriter, loc, rank, n.constant(extents[0]));
    Value column = extents[0] == 1 ? rank : n.div(rank, n.constant(extents[0]));
    Value ranks[2] = {row, column}, exists;
    for (unsigned axis = 0; axis < 2; ++axis) {
      if (extents[axis] == 1)
        continue;
      coordinates[axis] = n.add(n.mul(coordinates[axis], n.constant(extents[axis])), ranks[axis]);
      Value inside = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, coordinates[axis], sizes[axis]);
      exists = exists ? n.both(exists, inside) : inside;
      coordinates[axis] = arith::MinUIOp::create(rewriter, loc, coordinates[axis], n.sub(sizes[axis], n.constant(1)));
    }
    return exists;
  }

  WorkAttr work;
  IRRewriter rewriter;
  Location loc;
  SmallVector<Value> sizes;       ///< The size of the grid.
  std::array<int32_t, 2> extents; ///< Programs of a cluster along the first two axes.
  unsigned fastest;               ///< The axis along which consecutive program indices lie.
  std::array<Value, 2> groups;    ///< Cluster-sized groups of programs along these axes.
  Value count, step;              ///< The number of groups; the stride from one group of a CTA to its next.
  Value first;                    ///< The index of the cluster or CTA; null if each role queries the CTA's index.
  Value rank;                     ///< The rank of the CTA in its cluster; null without clusters.
  TailPlan tail;
};

/// Emits an error and fails unless the kernel's clusters have the size that `work` requires and all combines are
/// lowered.
LogicalResult verifyPrograms(KernelOp kernel, ProgramsOp programs) {
  WalkResult combines = programs.walk([](cta::CombineOp combine) {
    combine.emitOpError() << "must be lowered before the programs become loops; run cta-lower-combines first";
    return WalkResult::interrupt();
  });
  if (combines.wasInterrupted())
    return failure();
  auto [alongX, alongY] = programs.getWork().getClusterShape();
  int64_t needed = int64_t(alongX) * alongY * programs.getWork().getSplitK(), ctas = int32_t(kernel.getClusterCtas());
  if (needed != ctas)
    return programs.emitOpError() << "distributes work to clusters of " << needed
                                  << " CTAs but the kernel's clusters have " << ctas;
  return success();
}

/// Returns the operation of the kernel's body that contains the programs: the warp roles, or the programs themselves.
Operation *getOutermost(ProgramsOp programs) {
  return programs->getParentOfType<KernelOp>().getBody().front().findAncestorOpInBlock(*programs);
}

struct CtaLowerPrograms : tile::impl::CtaLowerProgramsBase<CtaLowerPrograms> {
  void runOnKernel() override {
    SmallVector<ProgramsOp> all;
    getOperation().walk([&](ProgramsOp programs) { all.push_back(programs); });
    for (ProgramsOp programs : all)
      if (failed(verifyPrograms(getOperation(), programs)))
        return signalPassFailure();
    while (!all.empty()) {
      ProgramsOp first = all.front();
      Operation *outer = getOutermost(first);
      ProgramsLowering lowering(first, outer);
      auto isOfRole = [&](ProgramsOp other) {
        return getOutermost(other) == outer && other.getOperands() == first.getOperands() &&
               other.getWork() == first.getWork();
      };
      SmallVector<ProgramsOp> ofRoles(llvm::make_filter_range(all, isOfRole));
      llvm::erase_if(all, isOfRole);
      for (ProgramsOp programs : ofRoles)
        lowering.run(programs);
    }
  }
};

} // namespace
