// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-load-ahead: hoist loads of epilogue vectors above the main loop.
//
// Loading a vector that is added to the accumulator, or scales it, takes as long as several K steps of the main loop.
// Issued before the loop, the load only costs a few registers during it:
//
//   %acc = scf.for … { tile.dot }                         %x = tile.load %bias : #spread
//   %x = tile.load %bias : #blocked               ==>     %acc = scf.for … { tile.dot }
//   %y = cta.convert_layout %x : #blocked -> #row         %y = cta.convert_layout %x : #spread -> #row
//
// #spread is a layout in which each warp holds all elements that it needs in few registers, so that the conversion
// stays within the warp: it takes shuffles, without shared memory and without barriers that would synchronize the warp
// groups. If threads need only a few elements, they load these elements directly in the layout #row.
//
// Inside the main loop, the pass also lets each warp load the vector elements that it needs, such as row maxima in the
// backward pass of attention.
#include "Analysis/Flow/Recreate.h"
#include "Layout/Movement.h"
#include "Layout/ShapeTransforms.h"
#include "Target/Tuned.h"
#include "Tile/TileDialect.h"
#include "Transforms/Passes.h"

#include "mlir/IR/IRMapping.h"

namespace tile {
#define GEN_PASS_DEF_CTALOADAHEAD
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

int64_t bytesInRegisters(const LinearLayout &layout, RankedTensorType type) {
  return layout.numRegisters() * std::max(getBytesInMemory(type.getElementType()), 1u);
}

/// Returns the loop of dots before the load in its block, if no operation in between writes memory.
scf::ForOp findMainLoop(LoadOp load) {
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
    bool multiplies = false;
    WalkResult result = op->walk([&](Operation *inner) {
      multiplies |= isa<DotOp>(inner);
      return writesGlobalMemory(inner) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return {};
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && multiplies)
      return loop;
  }
  return {};
}

/// Returns a layout that each warp can convert to `needed` by shuffles: elements that all lanes hold in `needed` are
/// distributed over the lanes.
LinearLayout spreadOverLanes(const LinearLayout &needed, RankedTensorType type) {
  LinearLayout distinct = layout::dropDuplicateRegisters(needed);
  std::vector<layout::InDim> dims = distinct.inDims();
  layout::Bases *registers = nullptr, *lanes = nullptr;
  for (layout::InDim &dim : dims) {
    registers = dim.name == layout::registerDim ? &dim.bases : registers;
    lanes = dim.name == layout::laneDim ? &dim.bases : lanes;
  }
  // A shuffle moves 32 bits, so elements that share these 32 bits stay together.
  size_t kept = 0;
  for (unsigned bytes = getBytesInMemory(type.getElementType()); bytes < 4 && kept < registers->size(); bytes *= 2)
    ++kept;
  for (std::vector<int32_t> &basis : *lanes)
    if (basis.front() == 0 && kept < registers->size()) {
      basis = (*registers)[kept];
      registers->erase(registers->begin() + kept);
    }
  return LinearLayout(dims, distinct.outShape());
}

class LoadAhead {
public:
  explicit LoadAhead(LoadOp load) : load(load), tuned(target::tunedOf(cta::getTarget(load))) {}

  void run() {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (!type || type.getRank() != 1 || load.getIsVolatile() || load.getCache() == CacheModifier::cv)
      return;
    mainLoop = findMainLoop(load);
    if (!mainLoop)
      return;
    cta::LayoutAttr layout = chooseLayout(type);
    if (bytesInRegisters(layout.getLayout(), type) > tuned.aheadVectorBytes || !canRecreate(layout))
      return;
    for (unsigned i = 0; i < load->getNumOperands(); ++i)
      load->setOperand(i, slicer.rewrite(load->getOperand(i), layout));
    if (cta::getLayoutAttr(type) != layout)
      changeLayout(type, layout);
    moveUp();
  }

private:
  cta::LayoutAttr chooseLayout(RankedTensorType type) {
    cta::LayoutAttr own = cta::getLayoutAttr(type);
    auto convert = load->hasOneUse() ? dyn_cast<cta::ConvertLayoutOp>(*load->user_begin()) : cta::ConvertLayoutOp();
    if (!convert)
      return own;
    const LinearLayout &needed = cta::getLayout(convert.getType());
    LinearLayout distinct = layout::dropDuplicateRegisters(needed);
    if (distinct.numRegisters() <= tuned.aheadVectorElements)
      return cta::LayoutAttr::get(load.getContext(), distinct);
    LinearLayout spread = spreadOverLanes(needed, type);
    bool shuffles = layout::movesByShuffles(spread, needed, getBytesInMemory(type.getElementType()));
    return shuffles ? cta::LayoutAttr::get(load.getContext(), spread) : own;
  }

  /// Returns true if addresses and masks consist of ranges and arithmetic, and their inputs are available before the
  /// loop.
  bool canRecreate(cta::LayoutAttr layout) {
    return llvm::all_of(load->getOperands(), [&](Value operand) {
      bool isTensor = isa<RankedTensorType>(operand.getType());
      return (!isTensor || slicer.plan(operand, layout).cost == 0) && canMoveUp(operand);
    });
  }

  bool isBefore(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != load->getBlock())
      return true; // an argument, or defined in an enclosing block
    return op->isBeforeInBlock(mainLoop);
  }

  bool canMoveUp(Value value) {
    if (isBefore(value) || !visited.insert(value).second)
      return true;
    Operation *op = value.getDefiningOp();
    return op->getNumRegions() == 0 && isMemoryEffectFree(op) && op != mainLoop &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return canMoveUp(operand); });
  }

  /// Changes the layout of a load whose only user is a conversion.
  void changeLayout(RankedTensorType type, cta::LayoutAttr layout) {
    auto convert = cast<cta::ConvertLayoutOp>(*load->user_begin());
    load.getResult().setType(cta::withLayout(type, layout));
    if (convert.getType() != load.getType())
      return;
    convert.replaceAllUsesWith(load.getResult());
    convert.erase();
  }

  void moveUp() {
    OpBuilder builder(mainLoop);
    IRMapping copies;
    for (OpOperand &operand : load->getOpOperands())
      operand.set(copyUp(operand.get(), builder, copies));
    load->moveBefore(mainLoop);
  }

  Value copyUp(Value value, OpBuilder &builder, IRMapping &copies) {
    if (isBefore(value) || copies.contains(value))
      return copies.lookupOrDefault(value);
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      copies.map(operand, copyUp(operand, builder, copies));
    return builder.clone(*op, copies)->getResult(cast<OpResult>(value).getResultNumber());
  }

  LoadOp load;
  const target::Tuned &tuned;
  scf::ForOp mainLoop;
  LayoutSlicer slicer;
  llvm::DenseSet<Value> visited;
};

/// In a loop of dots, lets each warp load the vector elements that it needs, if they would otherwise move between
/// warps.
void loadWithinWarps(cta::ConvertLayoutOp convert) {
  auto type = cast<RankedTensorType>(convert.getType());
  if (type.getRank() != 1 || convert->getBlock()->getOps<DotOp>().empty())
    return;
  Value source = convert.getSrc();
  unsigned bytes = getBytesInMemory(type.getElementType());
  const LinearLayout &needed = cta::getLayout(type);
  LinearLayout spread = spreadOverLanes(needed, type);
  // Each element that a thread needs takes a shuffle. Many shuffles cost more than an exchange if barriers for copied
  // matrices separate the iterations anyway.
  bool hasBarriers = llvm::any_of(convert->getBlock()->getOps<LoadOp>(), [](LoadOp load) {
    auto loaded = dyn_cast<RankedTensorType>(load.getType());
    return loaded && loaded.getRank() == 2;
  });
  int64_t shuffles = layout::dropDuplicateRegisters(needed).numRegisters();
  if ((hasBarriers && shuffles > target::tunedOf(cta::getTarget(convert)).shuffledElements) ||
      layout::movesByShuffles(cta::getLayout(source.getType()), needed, bytes) ||
      !layout::movesByShuffles(spread, needed, bytes))
    return;
  auto layout = cta::LayoutAttr::get(convert.getContext(), spread);
  LayoutSlicer slicer;
  if (slicer.plan(source, layout).cost > 0)
    return;
  convert.getSrcMutable().assign(slicer.rewrite(source, layout));
  eraseIfUnused(source);
}

struct CtaLoadAhead : tile::impl::CtaLoadAheadBase<CtaLoadAhead> {
  void runOnKernel() override {
    SmallVector<LoadOp> loads;
    bool multiplies = false;
    getOperation().walk([&](Operation *op) {
      multiplies |= isa<DotOp>(op);
      if (auto load = dyn_cast<LoadOp>(op))
        loads.push_back(load);
    });
    if (!multiplies)
      return;
    for (LoadOp load : loads)
      LoadAhead(load).run();
    // Conversions are collected first, because rewriting one of them may erase others.
    SmallVector<cta::ConvertLayoutOp> conversions;
    getOperation().walk([&](cta::ConvertLayoutOp convert) {
      if (isa<scf::ForOp>(convert->getParentOp()))
        conversions.push_back(convert);
    });
    for (cta::ConvertLayoutOp convert : conversions)
      loadWithinWarps(convert);
  }
};

} // namespace
