// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-distribute-programs: decide which CTA computes which programs, and in which order.
//
// With a causal mask, the last rows attend to all others, and the first only to themselves. CTAs start in the order of
// their indices, so programs with the longest loops get the first indices, and shorter ones fill in at the end:
//
//   %first = 128 * program_id 0                     %first = 128 * program_id 0 descending
//   for %i = 0 to %first + 128 step 64 { … }   ==>  for …
//
// Programs of different lengths are not distributed statically either: with 128 blocks of rows, and 132 CTAs that each
// take every 132nd program, some CTAs would have only long ones.
//
// Programs of equal length that read through tensor maps are distributed statically: a separate producer warp runs
// ahead, so copies for the next program overlap the epilogue of this one. The launcher starts at most as many CTAs as
// are resident, and passes the program's logical grid as three more arguments. Each CTA then has several programs to
// compute:
//
//   body  ==>  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid> { body }
//
// If a program uses its position in the grid only for a tile.swizzle2d, the operation becomes the order of the work. If
// the program also needs its position for anything else, the operation stays, and programs run in the order of the
// operation's input indices, with y fastest. In any other order, the programs that run at the same time would not
// belong to the same group: with groups of 8, a GEMM of size 8192 then reads 352 million sectors from L2 instead of 292
// million.
//
// Programs that wait for others, as in a scan with look-back, wait for programs with smaller indices. These must start
// first; otherwise waiting CTAs occupy all multiprocessors, and the programs for which they wait never start. Kernels
// with such programs keep the order of the grid. Kernels that print, or that check conditions with --debug, also keep
// this order, so that a CTA computes the program whose index its messages report.
#include "Analysis/Engines/DeviceDescriptors.h"
#include "Analysis/Programs/GemmPrograms.h"
#include "Tile/TileDialect.h"
#include "Transforms/Passes.h"
#include "Transforms/Tile/ProgramLengths.h"

#include "Cta/CtaDialect.h"
#include "Target/Tuned.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace tile {
#define GEN_PASS_DEF_TILEDISTRIBUTEPROGRAMS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

constexpr unsigned numAxes = ProgramsOp::numAxes;

/// Returns true if the kernel prints or asserts, with messages that contain the program's indices.
bool hasMessages(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) { return isa<PrintOp, AssertOp>(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Returns true if programs may wait for each other, in a loop whose exit depends on memory. An operation that observes
/// writes of other programs, such as an atomic, counts as a write. It can be a wait only if its result is used.
bool mayWait(KernelOp kernel) {
  return kernel
      .walk([](scf::WhileOp loop) {
        return loop.walk([](Operation *op) {
          return !op->use_empty() && writesGlobalMemory(op) ? WalkResult::interrupt() : WalkResult::advance();
        });
      })
      .wasInterrupted();
}

/// Marks a kernel as uneven if the lengths of its programs' loops differ. Then starts the programs with the longest
/// loops first, if `isFree` allows any order.
void orderByLength(KernelOp kernel, bool isFree) {
  ProgramLengths lengths(kernel);
  // Ignores loops over distributed work, which have one more iteration in some programs than in others.
  const double minGrowth = target::tunedOf(cta::getTarget(kernel)).unevenGrowth;
  for (unsigned axis = 0; axis < numAxes; ++axis) {
    const double growth = lengths.getGrowth(axis).value_or(0);
    if (std::abs(growth) < minGrowth)
      continue;
    kernel.setUneven(true);
    if (growth > 0 && isFree)
      kernel.walk([&](ProgramIdOp id) {
        if (id.getAxis() == axis)
          id.setDescending(true);
      });
  }
}

/// Appends the sizes of the grid to the kernel's arguments.
SmallVector<Value> addGridArguments(KernelOp kernel) {
  Builder builder(kernel.getContext());
  SmallVector<Value> sizes;
  for (unsigned axis = 0; axis < numAxes; ++axis) {
    unsigned index = kernel.getNumArguments();
    auto attributes =
        builder.getDictionaryAttr(builder.getNamedAttr(gridSizeAttrName, builder.getI32IntegerAttr(axis)));
    (void)kernel.insertArgument(index, builder.getI32Type(), attributes, kernel.getLoc());
    sizes.push_back(kernel.getArgument(index));
  }
  return sizes;
}

/// The order of programs along the grid's first two axes.
struct Order {
  WorkOrder order = WorkOrder::grid;
  int32_t group = 1;
  Swizzle2dOp swizzle; ///< The operation that the order replaces, or null.
};

bool isProgramId(Value value, unsigned axis) {
  auto id = value.getDefiningOp<ProgramIdOp>();
  return id && id.getAxis() == axis;
}

bool isNumPrograms(Value value, unsigned axis) {
  auto number = value.getDefiningOp<NumProgramsOp>();
  return number && number.getAxis() == axis;
}

/// Returns true if the program uses its position along the first two axes only for its order.
bool isWholeOrder(KernelOp kernel, Swizzle2dOp swizzle) {
  if (!isNumPrograms(swizzle.getSizeI(), 0) || !isNumPrograms(swizzle.getSizeJ(), 1) ||
      swizzle->getParentOp() != kernel)
    return false;
  return !kernel
              .walk([&](ProgramIdOp id) {
                bool isOther =
                    id.getAxis() < 2 && !llvm::all_of(id->getUsers(), [&](Operation *user) { return user == swizzle; });
                return isOther ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

Order findOrder(KernelOp kernel) {
  Order order;
  kernel.walk([&](Swizzle2dOp swizzle) {
    if (!isProgramId(swizzle.getI(), 0) || !isProgramId(swizzle.getJ(), 1))
      return;
    order.order = WorkOrder::transposed;
    APInt group;
    if (isWholeOrder(kernel, swizzle) && matchPattern(swizzle.getSizeG(), m_ConstantInt(&group)) &&
        group.isStrictlyPositive())
      order = {WorkOrder::swizzle2d, int32_t(group.getSExtValue()), swizzle};
  });
  return order;
}

void makePersistent(KernelOp kernel, bool isFree) {
  Order order = isFree ? findOrder(kernel) : Order();
  auto work = WorkAttr::get(kernel.getContext(), order.order, order.group);
  ProgramsOp programs = wrapPrograms(kernel, addGridArguments(kernel), work);
  if (!order.swizzle)
    return;
  // The coordinates get the location of the swizzle that they replace.
  for (BlockArgument coordinate : programs.getBody().getArguments().take_front(2))
    coordinate.setLoc(order.swizzle.getLoc());
  order.swizzle.replaceAllUsesWith(programs.getCoordinates().take_front(2));
  order.swizzle.erase();
}

/// Returns true if a CTA can compute several programs, and this pays off.
bool isForSeveral(KernelOp kernel) {
  if (kernel.getPrograms())
    return false;
  // CTAs should take programs of different lengths as they become free, which a loop over programs cannot do.
  const bool hasMaps = !kernel.getUneven() && llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<DescType>);
  return hasMaps || !planDeviceDescriptors(kernel).empty();
}

struct TileDistributePrograms : tile::impl::TileDistributeProgramsBase<TileDistributePrograms> {
  using TileDistributeProgramsBase::TileDistributeProgramsBase;

  void runOnKernel() override {
    KernelOp kernel = getOperation();
    if (hasMessages(kernel))
      return;
    const bool isFree = !mayWait(kernel);
    orderByLength(kernel, isFree);
    if (several && isForSeveral(kernel))
      makePersistent(kernel, isFree);
  }
};

} // namespace
