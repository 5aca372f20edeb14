// tile-make-persistent: let each CTA run several programs.
//
// The launcher starts at most as many CTAs as run at the same time, and passes the grid that the programs believe in as
// three more arguments. A loop goes over the programs of a CTA, so copies for the next program can run while this one
// writes its result:
//
//   for (p = CTA; p < x * y * z; p += CTAs)  { program_id = (p mod x, p / x mod y, p / (x * y)); body }
//
// That is the order of the grid, x fastest. Programs that order themselves by tile.swizzle2d run in the order of its
// numbers, row by row, which is y fastest if rows are x. Else those that run at the same time are not those that it
// puts together: 8192x8192x8192 then reads 352 million sectors from L2 instead of 292, both in groups of 8.
//
// Only kernels with tensor maps: they are copied ahead by a warp of their own, which is what gains.
#include "Analysis/DeviceDescriptors.h"
#include "Tile/TileDialect.h"
#include "Transforms/Passes.h"

#include "Cta/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace tile {
#define GEN_PASS_DEF_TILEMAKEPERSISTENT
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

constexpr unsigned numAxes = 3;

/// Appends the sizes of the grid to the kernel's arguments.
SmallVector<Value> addGridArguments(KernelOp kernel) {
  Builder builder(kernel.getContext());
  SmallVector<Value> sizes;
  for (unsigned axis = 0; axis < numAxes; ++axis) {
    unsigned index = kernel.getNumArguments();
    auto attributes = builder.getDictionaryAttr(
        builder.getNamedAttr(KernelOp::getGridSizeAttrName(), builder.getI32IntegerAttr(axis)));
    (void)kernel.insertArgument(index, builder.getI32Type(), attributes, kernel.getLoc());
    sizes.push_back(kernel.getArgument(index));
  }
  return sizes;
}

/// The grid's axes, the one first along which programs with consecutive numbers lie.
std::array<unsigned, numAxes> findOrder(KernelOp kernel) {
  std::array<unsigned, numAxes> order = {0, 1, 2};
  kernel.walk([&](Swizzle2dOp swizzle) {
    auto row = swizzle.getI().getDefiningOp<ProgramIdOp>();
    auto column = swizzle.getJ().getDefiningOp<ProgramIdOp>();
    if (row && column && row.getAxis() == 0 && column.getAxis() == 1)
      order = {1, 0, 2};
  });
  return order;
}

void replaceGridOps(scf::ForOp loop, ArrayRef<Value> sizes, ArrayRef<Value> ids) {
  loop.getBody()->walk([&](Operation *op) {
    if (auto id = dyn_cast<ProgramIdOp>(op))
      id.replaceAllUsesWith(ids[id.getAxis()]);
    else if (auto size = dyn_cast<NumProgramsOp>(op))
      size.replaceAllUsesWith(sizes[size.getAxis()]);
    else
      return;
    op->erase();
  });
}

void makePersistent(KernelOp kernel) {
  const std::array<unsigned, numAxes> order = findOrder(kernel);
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> program;
  for (Operation &op : body.without_terminator())
    program.push_back(&op);

  SmallVector<Value> sizes = addGridArguments(kernel);
  OpBuilder builder(body.getTerminator());
  Location loc = kernel.getLoc();
  Value count = arith::MulIOp::create(builder, loc, sizes[0], sizes[1]);
  count = arith::MulIOp::create(builder, loc, count, sizes[2]);
  auto loop = scf::ForOp::create(builder, loc, ProgramIdOp::create(builder, loc, 0), count,
                                 NumProgramsOp::create(builder, loc, 0));
  for (Operation *op : program)
    op->moveBefore(loop.getBody()->getTerminator());

  builder.setInsertionPointToStart(loop.getBody());
  Value rest = loop.getInductionVar();
  Value ids[numAxes];
  for (unsigned axis : ArrayRef(order).drop_back()) {
    ids[axis] = arith::RemUIOp::create(builder, loc, rest, sizes[axis]);
    rest = arith::DivUIOp::create(builder, loc, rest, sizes[axis]);
  }
  ids[order.back()] = rest;
  replaceGridOps(loop, sizes, ids);
}

struct TileMakePersistent : tile::impl::TileMakePersistentBase<TileMakePersistent> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    // Programs of different lengths go to CTAs as these become free, which a loop over them cannot do.
    const bool hasMaps = !kernel.getUneven() && llvm::any_of(kernel.getArgumentTypes(), llvm::IsaPred<DescType>);
    if (hasMaps || !planDeviceDescriptors(kernel).empty())
      makePersistent(kernel);
  }
};

} // namespace
