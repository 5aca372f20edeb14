// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-assign-layouts: give every tensor a layout.
//
// Every tensor of one shape gets the same default layout, so element-wise arithmetic and control flow agree. Other
// operations (loads and stores with coalesced vectors, dots with fragments, packed inline PTX with neighbours, shape
// operations and reductions) get a convert_layout on each side that differs. This is correct for every program;
// cta-remove-conversions removes conversions that do not pay off. Without dots, accesses determine the default layout
// of their shape: a thread has 16 bytes of the widest type that the innermost loops access; if each row is reduced to a
// scalar, as few warps as possible share a row. Tensors that are reshaped, joined or repeated from others get matching
// layouts. With dots, accumulators determine the layout of their shape, of vectors with one element per row, of fp32
// matrices that are added, and of row factors.
//
//   %x = tile.load %p : tensor<64x!ptr>        %q = cta.convert_layout %p : #default -> #coalesced
//   %y = arith.negf %x                    ==>  %x = tile.load %q : tensor<64x!ptr, #coalesced>
//                                              %z = cta.convert_layout %x : #coalesced -> #default
//                                              %y = arith.negf %z
#include "Analysis/Addresses/StepEstimate.h"
#include "Analysis/Dots/DotPlan.h"
#include "Cta/CtaDialect.h"
#include "Layout/Factories.h"
#include "Layout/ShapeTransforms.h"
#include "Target/Tuned.h"
#include "Transforms/Cta/AccessPlan.h"
#include "Transforms/Cta/ShapesOfRows.h"
#include "Transforms/Cta/StageOperands.h"
#include "Transforms/Cta/UnpackedOperands.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tile {
#define GEN_PASS_DEF_CTAASSIGNLAYOUTS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

class LayoutAssignment {
public:
  LayoutAssignment(KernelOp kernel, const target::GpuTarget &gpu, bool keepsSums)
      : kernel(kernel), gpu(gpu), keepsSums(keepsSums), builder(kernel.getContext()) {}

  void run() {
    planAnchors();
    assignDefaults();
    assignUnpacked(unpackedLayouts);
    kernel.walk([&](Operation *op) { convertAround(op); });
    OperandStage stage;
    kernel.walk([&](DotOp dot) { stage.store(dot); });
  }

private:
  cta::LayoutAttr attribute(const LinearLayout &layout) { return cta::LayoutAttr::get(kernel.getContext(), layout); }

  RankedTensorType withDefault(RankedTensorType type) {
    if (cta::LayoutAttr layout = sharedLayouts.lookup(type.getShape()))
      return cta::withLayout(type, layout);
    auto layout = layout::defaultBlocked(type.getShape().vec(), layout::rowMajorOrder(type.getRank()),
                                         /*vectorElements=*/1, kernel.getNumWarps());
    return cta::withLayout(type, attribute(layout));
  }

  /// Returns true for row statistics that are loaded in a loop with several dots. If each warp loads all of them, warps
  /// need not synchronize in every iteration, and the dots can be issued ahead.
  static bool isOfEachWarp(Operation *access, ArrayRef<int64_t> shape) {
    const int64_t maxElements = target::tunedOf(cta::getTarget(access)).rowStatisticElements;
    return isa<LoadOp>(access) && shape.size() == 1 && shape.front() <= maxElements &&
           isa<LoopLikeOpInterface>(access->getParentOp()) && llvm::range_size(access->getBlock()->getOps<DotOp>()) > 1;
  }

  using Accesses = llvm::SmallVector<std::pair<Operation *, AccessPlan>>;

  /// The accesses with the highest priority determine the layout of their shape. An access that cannot be as wide keeps
  /// a separate layout, unless the elements of all lanes of a warp lie in two cache lines, as if it loads every second
  /// element, or a table of 16 values.
  void planAccesses(AxisInfoAnalysis &axisInfo) {
    llvm::MapVector<ArrayRef<int64_t>, Accesses> ofShapes;
    DenseSet<std::pair<ArrayRef<int64_t>, unsigned>> reduced; // shapes, along axes
    bool multiplies = false;
    AddressSpans spans(kernel);
    DenseSet<Operation *> operands = collectOperands(kernel);
    kernel.walk([&](Operation *op) {
      multiplies |= isa<DotOp>(op);
      if (auto reduce = dyn_cast<ReduceOp>(op))
        reduced.insert({cast<RankedTensorType>(reduce.getSrcs().front().getType()).getShape(), reduce.getAxis()});
      Value pointer = isa<LoadOp, StoreOp>(op) ? op->getOperand(0) : Value();
      if (auto type = pointer ? dyn_cast<RankedTensorType>(pointer.getType()) : RankedTensorType())
        ofShapes[type.getShape()].emplace_back(op, operands.contains(op) ? planOperand(cast<LoadOp>(op), axisInfo)
                                                                         : planAccess(pointer, axisInfo));
    });
    DenseSet<ArrayRef<int64_t>> accessed;
    for (auto &[shape, accesses] : ofShapes) {
      accessed.insert(shape);
      const AccessPlan &common = llvm::min_element(accesses, decidesBefore)->second;
      if (!multiplies) {
        // Not if the matrix is also reduced to a row: warps would then have to exchange whole rows.
        unsigned columns = common.order.front(), rows = common.order.back();
        bool isReducedToRow = shape.size() == 2 && shape[rows] < shape[columns] && reduced.contains({shape, rows});
        bool isOfRows = shape.size() > 1 && reduced.contains({shape, columns}) && !isReducedToRow;
        sharedLayouts[shape] = attribute(isOfRows ? common.getRowLayout(shape, kernel.getNumWarps())
                                                  : common.getLayout(shape, kernel.getNumWarps()));
      }
      for (auto &[op, plan] : accesses) {
        bool joins = !multiplies && plan.order == common.order &&
                     (plan.isFull || plan.vector >= common.vector || isNear(op, plan, common.vector, spans));
        accessLayouts[op] = joins ? sharedLayouts[shape]
                            : isOfEachWarp(op, shape)
                                ? attribute(repeatForWarps(plan.getLayout(shape, /*warps=*/1), kernel.getNumWarps()))
                                : attribute(plan.getLayout(shape, kernel.getNumWarps()));
      }
    }
    planScanned(ofShapes, axisInfo);
    planRepeated(accessed);
    unpackedLayouts = planUnpacked(kernel, accessLayouts, sharedLayouts);
    planReshaped(accessed);
  }

  /// Accesses a scanned vector in the scan's layout if a thread has only a few elements, all in different sectors,
  /// because every layout then needs the same number of sectors.
  void planScanned(const llvm::MapVector<ArrayRef<int64_t>, Accesses> &ofShapes, AxisInfoAnalysis &axisInfo) {
    constexpr double sectorBytes = 32;
    auto isStrided = [&](Operation *access) {
      Value pointer = access->getOperand(0);
      unsigned bytes = getBytesInMemory(cast<PtrType>(getElementTypeOf(pointer.getType())).getPointee());
      return estimateStep(pointer, /*dim=*/0, axisInfo) * bytes >= sectorBytes;
    };
    kernel.walk([&](ScanOp scan) {
      auto type = cast<RankedTensorType>(scan.getSrcs().front().getType());
      auto accesses = ofShapes.find(type.getShape());
      if (type.getRank() != 1 || accesses == ofShapes.end() ||
          !llvm::all_of(llvm::make_first_range(accesses->second), isStrided))
        return;
      cta::LayoutAttr layout = attribute(planStridedScan(type, kernel));
      if (layout.getLayout().numRegisters() > target::tunedOf(cta::getTarget(kernel)).stridedScanElements)
        return;
      sharedLayouts[type.getShape()] = accessLayouts[scan] = layout;
      for (Operation *access : llvm::make_first_range(accesses->second))
        accessLayouts[access] = layout;
    });
  }

  /// Gives a shape without accesses, but with a reshape from or to an accessed shape, the layout that makes the reshape
  /// free. Joined tensors stay in the threads that hold them.
  void planReshaped(const DenseSet<ArrayRef<int64_t>> &accessed) {
    auto share = [&](Value value, cta::LayoutAttr layout) {
      if (layout && !accessed.contains(shapeOf(value)))
        sharedLayouts.try_emplace(shapeOf(value), layout);
    };
    kernel.walk([&](BroadcastOp broadcast) {
      auto expand = broadcast.getSrc().getDefiningOp<ExpandDimsOp>();
      ArrayRef<int64_t> shape = broadcast.getType().getShape();
      if (!expand || shape.size() < 3 || shape.back() != 2 || expand.getSrc().getType().getShape() != shape.drop_back())
        return;
      auto part = withDefault(expand.getSrc().getType());
      share(broadcast.getResult(), attribute(layout::joinLayout(cta::getLayout(part))));
      share(expand.getResult(), cast<cta::LayoutInterface>(*expand).getResultLayout(cta::getLayoutAttr(part)));
    });
    auto find = [&](Value value) { return sharedLayouts.lookup(shapeOf(value)); };
    kernel.walk([&](ReshapeOp reshape) {
      if (cta::LayoutAttr layout = find(reshape.getSrc()))
        share(reshape.getResult(), cast<cta::LayoutInterface>(*reshape).getResultLayout(layout));
    });
    kernel.walk([&](ReshapeOp reshape) {
      if (cta::LayoutAttr layout = find(reshape.getResult()))
        share(reshape.getSrc(), cast<cta::LayoutInterface>(*reshape).getOperandLayout(layout));
    });
  }

  static ArrayRef<int64_t> shapeOf(Value value) { return cast<RankedTensorType>(value.getType()).getShape(); }

  /// A tensor with a new dimension, along which its elements are repeated.
  struct Repetition {
    ExpandDimsOp expand;
    int64_t times;
  };

  /// Returns the layout that repeats each element in the thread that holds it, if the source's shape has a layout.
  cta::LayoutAttr layoutOf(Repetition repetition) {
    unsigned axis = repetition.expand.getAxis();
    cta::LayoutAttr source = sharedLayouts.lookup(shapeOf(repetition.expand.getSrc()));
    return source
               ? attribute(layout::repeatDim(layout::insertUnitDim(source.getLayout(), axis), axis, repetition.times))
               : cta::LayoutAttr();
  }

  /// Gives a shape without accesses, to which matrices are repeated a few times, the layout of the least repeated one.
  /// Also loads other values that a loop broadcasts to the shape in that layout.
  void planRepeated(const DenseSet<ArrayRef<int64_t>> &accessed) {
    const int64_t fewTimes = target::tunedOf(cta::getTarget(kernel)).repeatedLayoutTimes;
    llvm::MapVector<ArrayRef<int64_t>, Repetition> repetitions;
    auto offer = [&](Value result, Repetition repetition) {
      ArrayRef<int64_t> shape = shapeOf(result);
      cta::LayoutAttr layout = layoutOf(repetition);
      bool isFree = !accessed.contains(shape) && !sharedLayouts.contains(shape);
      if (!layout || !isFree || repetition.times > fewTimes || shape != ArrayRef(layout.getLayout().outShape()))
        return;
      auto [place, isNew] = repetitions.try_emplace(shape, repetition);
      if (!isNew && repetition.times < place->second.times)
        place->second = repetition;
    };
    kernel.walk([&](ExpandDimsOp expand) {
      if (shapeOf(expand.getSrc()).size() < 2)
        return;
      offer(expand.getResult(), {expand, 1});
      llvm::SetVector<Value> expanded;
      expanded.insert(expand.getResult());
      for (Value value : collectComputed(expanded))
        for (Operation *user : value.getUsers())
          if (auto broadcast = dyn_cast<BroadcastOp>(user); broadcast && shapeOf(value) == shapeOf(expand.getResult()))
            offer(broadcast.getResult(), {expand, broadcast.getType().getDimSize(expand.getAxis())});
    });
    auto ordered = repetitions.takeVector();
    llvm::stable_sort(ordered, [](auto &a, auto &b) { return llvm::product_of(a.first) > llvm::product_of(b.first); });
    DenseSet<Operation *> planned;
    for (auto &[shape, repetition] : ordered) {
      sharedLayouts[shape] = layoutOf(repetition);
      kernel.walk([&](LoadOp load) {
        if (!planned.contains(load) && planSpread(load, shape))
          planned.insert(load);
      });
    }
  }

  /// Loads values that are broadcast to `shape` in its layout, replicated in warps, which then need not synchronize.
  bool planSpread(LoadOp load, ArrayRef<int64_t> shape) {
    cta::LayoutAttr spread = sharedLayouts.lookup(shape);
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (!type || type.getShape() == shape || !isa<LoopLikeOpInterface>(load->getParentOp()))
      return false;
    DenseSet<Operation *> seen;
    cta::LayoutAttr layout = findLayoutInLoop(load->getBlock(), shape, load.getResult(), spread, seen);
    if (!layout || layout.getLayout().numRegisters() > spread.getLayout().numRegisters())
      return false;
    accessLayouts[load] = layout;
    WalkResult others = kernel.walk([&](Operation *op) {
      bool isOther = isa<LoadOp, StoreOp>(op) && isa<RankedTensorType>(op->getOperand(0).getType()) &&
                     shapeOf(op->getOperand(0)) == type.getShape() && accessLayouts.lookup(op) != layout;
      return isOther ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!others.wasInterrupted())
      sharedLayouts[type.getShape()] = layout;
    return true;
  }

  /// Plans the layouts of accesses and dots before any type changes, while the analysis is valid.
  void planAnchors() {
    AxisInfoAnalysis axisInfo(kernel);
    planAccesses(axisInfo);
    kernel.walk([&](Operation *op) {
      if (isa<AtomicRmwOp, AtomicCasOp>(op))
        accessLayouts[op] = attribute(planAtomic(op, axisInfo, kernel.getNumWarps(), gpu));
      if (auto scan = dyn_cast<ScanOp>(op)) {
        auto type = cast<RankedTensorType>(scan.getSrcs().front().getType());
        accessLayouts.try_emplace(op, attribute(planScan(type, scan.getAxis(), kernel)));
      }
      if (auto dot = dyn_cast<DotOp>(op))
        dotPlans[op] = planDot(dot, kernel.getNumWarps());
    });
    for (Operation *dot : llvm::make_first_range(dotPlans))
      fromDots.insert(dot->getResult(0));
    fromDots = collectComputed(std::move(fromDots));
    kernel.walk([&](DescLoadOp load) { planBlock(load); });
    kernel.walk([&](LoadOp load) {
      planAddend(load, axisInfo);
      planFactor(load);
    });
    if (keepsSums && !dotPlans.empty())
      planSums();
  }

  /// Gives matrices with an accumulator's shape its layout, and vectors to which such a matrix is reduced the layout of
  /// its rows or columns, so that loops can carry both without moving data. Inner loops take precedence.
  void planSums() {
    SmallVector<Operation *> ordered(llvm::make_first_range(dotPlans));
    kernel.walk([&](ReduceOp reduce) { ordered.push_back(reduce); });
    llvm::stable_sort(ordered, [](Operation *a, Operation *b) { return depthOf(a) > depthOf(b); });
    DenseSet<ArrayRef<int64_t>> ofRows = collectShapesOfRows(kernel);
    for (Operation *op : ordered)
      if (auto plan = dotPlans.find(op); plan != dotPlans.end() && !ofRows.contains(shapeOf(op->getResult(0))))
        sharedLayouts.try_emplace(shapeOf(op->getResult(0)), attribute(plan->second.accumulator));
    for (Operation *op : ordered) {
      cta::LayoutAttr matrix = isa<ReduceOp>(op) ? sharedLayouts.lookup(shapeOf(op->getOperand(0))) : cta::LayoutAttr();
      Value result = op->getResult(0);
      if (matrix && isa<RankedTensorType>(result.getType()))
        sharedLayouts.try_emplace(shapeOf(result), cast<cta::LayoutInterface>(op).getResultLayout(matrix));
    }
  }

  /// Plans 16-byte reads of a descriptor's block that is used outside of dots. If columns are reduced, each warp holds
  /// separate columns, so that warps need not synchronize.
  void planBlock(DescLoadOp load) {
    constexpr int64_t accessBytes = 16;
    auto feedsMmas = [](Operation *user) { return isa<DotOp, TransOp, ReshapeOp>(user); };
    RankedTensorType type = load.getType();
    ArrayRef<int64_t> shape = type.getShape();
    if (llvm::all_of(load->getUsers(), feedsMmas))
      return;
    int64_t vector = std::max<int64_t>(1, accessBytes / getBytesInMemory(type.getElementType()));
    std::vector<unsigned> order = layout::rowMajorOrder(type.getRank());
    layout::BlockedTile tile = layout::defaultBlockedTile(shape.vec(), order, vector, kernel.getNumWarps());
    if (shape.size() == 2 && isReduced(shape, /*axis=*/0)) {
      int64_t threads = shape[1] / tile.sizePerThread[1], warps = std::min<int64_t>(kernel.getNumWarps(), threads),
              lanes = std::min(layout::lanesPerWarp, threads / warps);
      tile.warpsPerCta = {kernel.getNumWarps() / warps, warps};
      tile.threadsPerWarp = {layout::lanesPerWarp / lanes, lanes};
    }
    sharedLayouts.try_emplace(shape, attribute(layout::blocked(shape.vec(), tile)));
  }

  bool isReduced(ArrayRef<int64_t> shape, unsigned axis) {
    return kernel
        .walk([&](ReduceOp reduce) {
          auto source = cast<RankedTensorType>(reduce.getSrcs().front().getType());
          return reduce.getAxis() == axis && source.getShape() == shape ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Returns true if the loaded tensor, or a value computed from it, initializes a dot's accumulator or is combined
  /// with one. Returns false for factors of an operand.
  bool isUsedWithAccumulators(LoadOp load) {
    llvm::SetVector<Value> loaded;
    loaded.insert(load.getResult());
    return llvm::any_of(collectComputed(loaded), [&](Value value) {
      return llvm::any_of(value.getUses(), [&](OpOperand &use) {
        auto dot = dyn_cast<DotOp>(use.getOwner());
        return dot ? dot.getAcc() == value
                   : isElementwise(use.getOwner()) && llvm::any_of(use.getOwner()->getOperands(), [&](Value operand) {
                       return fromDots.contains(operand);
                     });
      });
    });
  }

  /// If a matrix is added to a dot, loads it in the accumulator's layout, provided that this needs no more memory
  /// sectors. This is the case for fp32, and avoids an exchange through shared memory.
  void planAddend(LoadOp load, AxisInfoAnalysis &axisInfo) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (!type || !isUsedWithAccumulators(load))
      return;
    auto found = llvm::find_if(dotPlans, [&](auto &plan) { return plan.first->getResultTypes().front() == type; });
    Value pointer = load.getPtr();
    const AxisInfo &info = axisInfo.get(pointer);
    if (found != dotPlans.end() && takesSectors(found->second.accumulator, planAccess(pointer, axisInfo), info,
                                                getBytesInMemory(type.getElementType())))
      accessLayouts[load] = attribute(found->second.accumulator);
  }

  /// If a loop loads one value per row of a dot, such as a scale, lets each thread load the values of its few rows. If
  /// the values went through shared memory, all warps would wait for each other in every iteration.
  void planFactor(LoadOp load) {
    const int64_t fewRegisters = target::tunedOf(cta::getTarget(load)).rowFactorRegisters;
    auto type = dyn_cast<RankedTensorType>(load.getType());
    for (auto &[op, plan] : dotPlans) {
      auto dot = cast<DotOp>(op);
      bool isInSameLoop = dot->getBlock() == load->getBlock() && isa<LoopLikeOpInterface>(dot->getParentOp());
      if (!isInSameLoop || !type || type.getShape() == dot.getType().getShape())
        continue;
      DenseSet<Operation *> seen;
      cta::LayoutAttr layout = findLayoutInLoop(dot->getBlock(), dot.getType().getShape(), load.getResult(),
                                                attribute(plan.accumulator), seen);
      if (layout && layout.getLayout().numRegisters() <= fewRegisters)
        accessLayouts[load] = layout;
    }
  }

  /// Returns the layout in which a broadcast of `value` to `shape` in `block` moves no data; null if there is none.
  cta::LayoutAttr findLayoutInLoop(Block *block, ArrayRef<int64_t> shape, Value value, cta::LayoutAttr spread,
                                   DenseSet<Operation *> &seen) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape) // an integer is part of an address, which is computed in another layout
      return isa<FloatType>(type.getElementType()) ? spread : cta::LayoutAttr();
    for (Operation *user : value.getUsers()) {
      bool spreads = isa<ExpandDimsOp, BroadcastOp>(user);
      if (user->getBlock() != block || !(spreads || isElementwise(user)) || user->getNumResults() != 1 ||
          !isa<RankedTensorType>(user->getResult(0).getType()) || !seen.insert(user).second)
        continue;
      if (cta::LayoutAttr layout = findLayoutInLoop(block, shape, user->getResult(0), spread, seen))
        return spreads ? cast<cta::LayoutInterface>(user).getOperandLayout(layout) : layout;
    }
    return {};
  }

  void assignDefaults() {
    auto assign = [&](Value value) {
      if (auto type = dyn_cast<RankedTensorType>(value.getType()))
        value.setType(withDefault(type));
    };
    kernel.walk([&](Operation *op) {
      llvm::for_each(op->getResults(), assign);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArguments(), assign);
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
          constant.setValueAttr(elements.isSplat() ? elements.resizeSplat(cast<ShapedType>(constant.getType()))
                                                   : DenseElementsAttr::getFromRawBuffer(
                                                         cast<ShapedType>(constant.getType()), elements.getRawData()));
    });
  }

  void convertAround(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp, ScanOp>([&](Operation *access) {
          if (cta::LayoutAttr layout = accessLayouts.lookup(access))
            convertAll(access, layout.getLayout());
        })
        .Case([&](InlineAsmOp text) {
          // The elements that one execution of the assembly computes must be consecutive in a thread.
          TypeRange types =
              text->getNumOperands() ? TypeRange(text->getOperandTypes()) : TypeRange(text->getResultTypes());
          auto type = types.empty() ? RankedTensorType() : dyn_cast<RankedTensorType>(types.front());
          if (type && text.getPack() > 1)
            convertAll(text, planPacked(type.getShape(), text.getPack(), kernel.getNumWarps()));
        })
        .Case([&](DotOp dot) {
          const DotPlan &plan = dotPlans[dot];
          forEachOperand(dot, plan,
                         [&](OpOperand &operand, const LinearLayout &layout) { convertOperand(operand, layout); });
          convertResult(dot.getResult(), plan.accumulator);
        })
        .Case([&](cta::LayoutInterface op) { tie(op); });
  }

  /// Derives the result layout from the operands where possible.
  void tie(cta::LayoutInterface op) {
    if (auto reduce = dyn_cast<ReduceOp>(*op))
      keepOrder(reduce, builder);
    cta::LayoutAttr operand = op->getNumOperands() != 0 ? cta::getLayoutAttr(op->getOperand(0).getType()) : nullptr;
    if (!operand || isElementwise(op))
      return;
    if (cta::LayoutAttr layout = op.getResultLayout(operand)) {
      for (Value result : op->getResults())
        if (isa<RankedTensorType>(result.getType()))
          convertResult(result, layout.getLayout());
    } else if (cta::LayoutAttr layout = op.getOperandLayout(cta::getLayoutAttr(op->getResult(0).getType()))) {
      convertOperand(op->getOpOperand(0), layout.getLayout());
    }
  }

  void convertAll(Operation *op, const LinearLayout &layout) {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        convertOperand(operand, layout);
    for (Value result : op->getResults())
      convertResult(result, layout);
  }

  void convertOperand(OpOperand &operand, const LinearLayout &layout) {
    auto type = cta::withLayout(cast<RankedTensorType>(operand.get().getType()), attribute(layout));
    if (type == operand.get().getType())
      return;
    builder.setInsertionPoint(operand.getOwner());
    operand.set(cta::ConvertLayoutOp::create(builder, operand.getOwner()->getLoc(), type, operand.get()));
  }

  /// Produces the result in `layout` and converts it to the layout that its users expect.
  void convertResult(Value result, const LinearLayout &layout) {
    auto used = cast<RankedTensorType>(result.getType());
    auto produced = cta::withLayout(used, attribute(layout));
    if (produced == used)
      return;
    result.setType(produced);
    builder.setInsertionPointAfter(result.getDefiningOp());
    auto converted = cta::ConvertLayoutOp::create(builder, result.getLoc(), used, result);
    result.replaceAllUsesExcept(converted, converted);
  }

  KernelOp kernel;
  const target::GpuTarget &gpu;
  bool keepsSums;
  OpBuilder builder;
  DenseMap<Operation *, cta::LayoutAttr> accessLayouts;
  llvm::SetVector<Value> fromDots;                            // accumulators, and values computed from them
  DenseMap<ArrayRef<int64_t>, cta::LayoutAttr> sharedLayouts; ///< Layouts of accessed shapes, unless dots decide.
  llvm::MapVector<Operation *, DotPlan> dotPlans;
  UnpackedLayouts unpackedLayouts;
};

struct CtaAssignLayouts : tile::impl::CtaAssignLayoutsBase<CtaAssignLayouts> {
  using CtaAssignLayoutsBase::CtaAssignLayoutsBase;

  void runOnKernel() override {
    const target::GpuTarget &gpu = cta::getTarget(getOperation());
    LayoutAssignment(getOperation(), gpu, accumulators).run();
  }
};

} // namespace
