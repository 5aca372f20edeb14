// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tile-distribute-programs: decide which CTA computes which programs, and in which order.
//
// With a causal mask the last rows see all the others, and the first only themselves. CTAs begin in the order of their
// numbers, so programs whose loops are longest get the first numbers, and the others end beside them:
//
//   %first = 128 * program_id 0                     %first = 128 * program_id 0 descending
//   for %i = 0 to %first + 128 step 64 { … }   ==>  for …
//
// They are also no work to be dealt out beforehand: with 128 blocks of rows, and 132 CTAs that take every 132nd
// program, some CTAs would have only long ones.
//
// Programs of one length that read through tensor maps are: a warp of their own copies ahead, so copies for the next
// one can run while this one writes its result. The launcher starts at most as many CTAs as run at the same time, and
// passes the grid that the programs believe in as three more arguments. Each CTA then has several programs to compute:
//
//   body  ==>  tile.programs (%i, %j, %k, %exists) in (%x, %y, %z) #tile.work<order = grid> { body }
//
// A program that orders itself by tile.swizzle2d says so in the order of its work. Where it needs its place in the grid
// besides, it at least runs in the order of the operation's numbers, row by row, which is y fastest if rows are x. Else
// those that run at the same time are not those that it puts together: 8192x8192x8192 then reads 352 million sectors
// from L2 instead of 292, both in groups of 8.
//
// Programs that wait for others, as in a scan with look-back, wait for smaller numbers: those must begin first, or CTAs
// that wait take all multiprocessors, and what they wait for never begins. Such kernels keep the order of the grid. So
// do those that print, or check conditions with --debug: a CTA then computes the program whose numbers its messages
// have.
#include "Analysis/DeviceDescriptors.h"
#include "Analysis/GemmPrograms.h"
#include "Analysis/ProgramLengths.h"
#include "Tile/TileDialect.h"
#include "Transforms/Passes.h"

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

/// Whether messages of the kernel say the numbers of its CTAs.
bool hasMessages(KernelOp kernel) {
  return kernel
      .walk([](Operation *op) { return isa<PrintOp, AssertOp>(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// Whether programs may wait for each other, in a loop that ends when memory says so. What sees the writes of others
/// while they run, as atomic operations do, counts as writing; who does not look at its result has not waited.
bool mayWait(KernelOp kernel) {
  return kernel
      .walk([](scf::WhileOp loop) {
        return loop.walk([](Operation *op) {
          return !op->use_empty() && writesGlobalMemory(op) ? WalkResult::interrupt() : WalkResult::advance();
        });
      })
      .wasInterrupted();
}

/// Lets programs whose loops are longest begin first, if their order is free.
void orderByLength(KernelOp kernel, bool isFree) {
  ProgramLengths lengths(kernel);
  // A loop that deals out work has one iteration more in some programs only.
  const double leastGrowth = target::tunedOf(cta::getTarget(kernel)).unevenGrowth;
  for (unsigned axis = 0; axis < numAxes; ++axis) {
    const double growth = lengths.getGrowth(axis).value_or(0);
    if (std::abs(growth) < leastGrowth)
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

/// How the program orders itself: over the grid's first two axes.
struct Order {
  WorkOrder order = WorkOrder::grid;
  int32_t group = 1;
  Swizzle2dOp swizzle; ///< What the order stands for, or null.
};

bool isProgramId(Value value, unsigned axis) {
  auto id = value.getDefiningOp<ProgramIdOp>();
  return id && id.getAxis() == axis;
}

bool isNumPrograms(Value value, unsigned axis) {
  auto number = value.getDefiningOp<NumProgramsOp>();
  return number && number.getAxis() == axis;
}

/// Whether the program uses its place along the first two axes for nothing but its order.
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
  // What is computed for them belongs to that line.
  for (BlockArgument coordinate : programs.getBody().getArguments().take_front(2))
    coordinate.setLoc(order.swizzle.getLoc());
  order.swizzle.replaceAllUsesWith(programs.getCoordinates().take_front(2));
  order.swizzle.erase();
}

/// Whether a CTA can compute several programs, and gains by it.
bool isForSeveral(KernelOp kernel) {
  if (kernel.getPrograms())
    return false;
  // Programs of different lengths go to CTAs as these become free, which a loop over them cannot do.
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
