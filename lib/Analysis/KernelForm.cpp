// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checks whether a kernel has a form.
//
//   form       operations                                     further requirements
//   program    tile, arith, math, scf                         no layouts
//   tile       as program                                     sizes are powers of two, dots have engines for the
//                                                             kernel's number of warps
//   layout     tile, convert_layout, make_desc with memory    every tensor has a layout for the kernel's number of
//                                                             warps; layouts of operands and results agree; the
//                                                             elements of a vector access are held by one thread
//   lowering   as layout or async
//   buffered   as lowering                                    but no access through a descriptor
//   async      no dot; buffers, copies, mma of cta            copies are awaited in their own block
//   ringed     as async, no cta.combine                       conversions and reductions stay inside a thread or warp
//   scheduled  as ringed                                      but no programs and no rings
//   allocated  as scheduled                                   buffers have offsets; no hazard without a barrier, and
//                                                             no wgmma is awaited without a wait
//
// Each requirement is a predicate on one operation; the form says which predicates must hold. A discardable attribute
// would be a decision that is not part of any operation's definition, so no form allows any, with two exceptions.
#include "Analysis/KernelForm.h"

#include "Analysis/Addresses/AccessVector.h"
#include "Analysis/Loops/LoopOptions.h"
#include "Analysis/SharedMemory/Hazards.h"
#include "Analysis/SharedMemory/PendingWgmmas.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Layout/Movement.h"
#include "Tile/TileShapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

namespace {

bool staysInThread(const LinearLayout &src, const LinearLayout &dst) {
  layout::MovementKind kind = layout::planMovement(src, dst).kind;
  return kind == layout::MovementKind::none || kind == layout::MovementKind::registers;
}

/// Returns two layouts that must be equal if no element moves between threads. These are the layout that `op` implies
/// for its result and the result's actual layout or, if no layout is implied, the operand's actual layout and the
/// required one. Returns nullopt for operations that do not relate operand and result, or whose layouts are equal
/// anyway.
std::optional<std::pair<cta::LayoutAttr, cta::LayoutAttr>> getTiedLayouts(Operation *op) {
  auto interface = dyn_cast<cta::LayoutInterface>(op);
  if (!interface || isElementwise(op) || op->getNumOperands() == 0)
    return std::nullopt;
  cta::LayoutAttr operand = cta::getLayoutAttr(op->getOperand(0).getType());
  cta::LayoutAttr result = cta::getLayoutAttr(op->getResult(0).getType());
  if (!operand || !result)
    return std::nullopt;
  if (cta::LayoutAttr made = interface.getResultLayout(operand))
    return {{made, result}};
  if (cta::LayoutAttr needed = interface.getOperandLayout(result))
    return {{operand, needed}};
  return std::nullopt;
}

class FormVerifier {
public:
  FormVerifier(KernelOp kernel, Form form, std::string prefix)
      : kernel(kernel), form(form), prefix(std::move(prefix)) {}

  LogicalResult verify() {
    WalkResult result = kernel.walk([&](Operation *op) { return WalkResult(verifyOperation(op)); });
    if (result.wasInterrupted())
      return failure();
    return form == Form::allocated ? verifyAllocated() : success();
  }

private:
  InFlightDiagnostic error(Operation *op) { return op->emitError() << prefix << ": "; }

  LogicalResult verifyOperation(Operation *op) {
    if (!isAllowed(op))
      return error(op) << "'" << op->getName() << "' does not belong to this phase";
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      // Two attributes are allowed: that of unsigned integers, which the interpreter needs to report overflows, and the
      // program's loop options.
      if (attribute.getName() != unsignedAttrName && attribute.getName() != numStagesAttrName)
        return error(op) << "attribute '" << attribute.getName().getValue() << "' is not declared by '" << op->getName()
                         << "'; only declared attributes may carry information between passes";
    if (isa<ProgramsOp>(op) && !isa<KernelOp, cta::WarpRolesOp>(op->getParentOp()))
      return error(op) << "'" << op->getName() << "' is in a '" << op->getParentOp()->getName()
                       << "'; expected the kernel's body or a warp role";
    if (auto sum = dyn_cast<cta::ClusterSumOp>(op); sum && !sum.getParity() && !isa<ProgramsOp>(op->getParentOp()))
      return error(op) << "'" << op->getName()
                       << "' needs a phase parity, which is implicit only in the block of a tile.programs";
    if (failed(verifyTypes(op)))
      return failure();
    if (auto dot = dyn_cast<DotOp>(op); dot && form >= Form::tile && failed(verifyEngine(dot)))
      return failure();
    if (form >= Form::layout && failed(verifyLayouts(op)))
      return failure();
    if (auto copy = dyn_cast<cta::AsyncCopyOp>(op); copy && form == Form::async)
      return verifyAwaited(copy);
    return form >= Form::ringed ? verifyScheduled(op) : success();
  }

  bool isAllowed(Operation *op) {
    if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
      return true;
    if (isa<scf::SCFDialect>(op->getDialect()))
      return isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp>(op);
    if (isa<TileDialect>(op->getDialect())) {
      // Once layouts are assigned, a descriptor must be a kernel argument or have memory for a tensor map.
      if (auto make = dyn_cast<MakeDescOp>(op))
        return form <= Form::tile || (form <= Form::lowering && make.getPlace());
      if (isa<DescLoadOp, DescStoreOp, CreateTensorMapOp>(op))
        return form <= Form::lowering;
      if (isa<DotScaledOp>(op))
        return form == Form::program;
      if (isa<DotOp>(op))
        return form <= Form::buffered;
      if (isa<GatherOp, HistogramOp>(op))
        return form < Form::ringed;
      if (isa<ProgramsOp>(op))
        return form <= Form::ringed;
      if (isa<BarrierOp>(op))
        return form < Form::allocated;
      return true;
    }
    // The CTA's rank in the cluster is a scalar, like the position in the grid.
    if (isa<cta::ClusterRankOp, cta::ClusterIdOp, cta::NumClustersOp>(op))
      return true;
    if (!isa<cta::CtaDialect>(op->getDialect()) || form <= Form::tile)
      return false;
    if (isa<cta::PartialReduceOp, cta::PartialScanOp, cta::ScanCarryOp>(op))
      return form >= Form::ringed;
    if (isa<cta::RingAllocOp, cta::RingAcquireOp, cta::RingCommitOp, cta::RingWaitOp, cta::RingReleaseOp,
            cta::RingSkipOp, cta::RingDrainOp, cta::RingBuffersOp, cta::RingNoneOp, cta::RingHoldsOp>(op))
      return form == Form::ringed;
    if (isa<cta::NextSlotOp>(op))
      return form >= Form::lowering && form <= Form::ringed;
    // LowerRings counts the turns of teams, as it counts the slots of rings.
    if (cta::isTurnOfTeams(op))
      return form == Form::ringed;
    // The phases of a tcgen05_await's barrier are also counted.
    if (isa<cta::Tcgen05AwaitOp>(op))
      return form >= Form::lowering && form <= Form::ringed;
    if (isa<cta::CombineOp>(op))
      return form == Form::async;
    // wgmma operands are in buffers once layouts are assigned.
    return form >= Form::lowering || isa<cta::ConvertLayoutOp, cta::AllocOp, cta::TransBufferOp, cta::LocalStoreOp,
                                         cta::ProxyFenceOp, cta::LocalLoadOp>(op);
  }

  bool isAllowedType(Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return isBlockElement(tensor.getElementType()) && isBlockShape(tensor.getShape());
    if (isa<cta::BufferType, cta::MbarrierType>(type))
      return form >= Form::layout;
    if (isa<cta::RingType, cta::RingSlotType>(type))
      return form == Form::ringed;
    if (isa<cta::TokenType, cta::TensorMemoryType>(type))
      return form >= Form::lowering;
    return isBlockElement(type) || isa<DescType>(type);
  }

  /// Returns true for types whose values loops and branches must not carry, because passes trace them through their
  /// uses.
  bool isPlace(Type type) {
    return isa<cta::BufferType, cta::MbarrierType, cta::RingType, cta::TensorMemoryType>(type) ||
           (isa<DescType>(type) && form >= Form::layout);
  }
  bool mayMake(Operation *op, Type type) {
    if (isa<KernelOp>(op))
      return isa<DescType>(type);
    return isa<cta::AllocOp, cta::SlotOp, cta::TransBufferOp, cta::MbarrierAllocOp, cta::RingAllocOp,
               cta::RingBuffersOp, cta::TensorMemoryAllocOp, cta::TensorMemorySlotOp, MakeDescOp, OpenTensorMapOp,
               cta::MakeTensorMapOp>(op);
  }

  LogicalResult verifyTypes(Operation *op) {
    auto verifyType = [&](Type type) -> LogicalResult {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (!isAllowedType(type) || (isPlace(type) && !mayMake(op, type)))
        return error(op) << "'" << op->getName() << "' cannot have a value of type " << type << " in this phase";
      if (!tensor)
        return success();
      cta::LayoutAttr layout = cta::getLayoutAttr(type);
      if (form == Form::tile && tensor.getShape() != ArrayRef(getPaddedShape(tensor.getShape())))
        return error(op) << "tensor " << type << " has a size that is not a power of two; run tile-pad-blocks first";
      if (form <= Form::tile)
        return tensor.getEncoding() ? error(op) << "tensor " << type << " already has a layout" : success();
      if (!layout)
        return error(op) << "tensor " << type << " has no layout";
      std::optional<cta::Role> role = cta::findRole(op);
      if (role && role->getAttr().getOneThread())
        return error(op) << "tensor " << type << " is in role '" << role->getAttr().getName()
                         << "', which has one thread";
      int64_t warps = role ? role->getAttr().getWarps() : kernel.getNumWarps();
      if (layout.getLayout().numWarps() != warps)
        return error(op) << "layout of " << type << " is for " << layout.getLayout().numWarps() << " warps but the "
                         << (role ? "role" : "kernel") << " has " << warps;
      return success();
    };
    for (Type type : op->getResultTypes())
      if (failed(verifyType(type)))
        return failure();
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (failed(verifyType(argument.getType())))
          return failure();
    return success();
  }

  LogicalResult verifyEngine(DotOp dot) {
    Engine engine = dot.getEngineAttr();
    if (!engine)
      return error(dot) << "the dot has no engine; run tile-choose-engine first";
    std::optional<unsigned> warps = engine.getNumWarps();
    if (warps && *warps != kernel.getNumWarps())
      return error(dot) << "the dot's engine is for " << *warps << " warps but the kernel has " << kernel.getNumWarps();
    return success();
  }

  LogicalResult verifyLayouts(Operation *op) {
    if (isElementwise(op)) {
      cta::LayoutAttr common;
      for (Type type :
           llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()), llvm::to_vector(op->getResultTypes()))) {
        cta::LayoutAttr layout = cta::getLayoutAttr(type);
        if (common && layout && layout != common)
          return error(op) << "'" << op->getName() << "' is elementwise but has layouts " << common << " and "
                           << layout;
        common = layout ? layout : common;
      }
    }
    auto tied = getTiedLayouts(op);
    if (tied && !staysInThread(tied->first.getLayout(), tied->second.getLayout()))
      return error(op) << "'" << op->getName() << "' moves elements between threads: from "
                       << op->getOperand(0).getType() << " to " << op->getResult(0).getType();
    if (auto load = dyn_cast<LoadOp>(op))
      return verifyVector(op, load.getPtr().getType(), load.getVector());
    if (auto store = dyn_cast<StoreOp>(op))
      return verifyVector(op, store.getPtr().getType(), store.getVector());
    if (auto atomic = dyn_cast<AtomicRmwOp>(op))
      return verifyVector(op, atomic.getPtr().getType(), atomic.getVector());
    return success();
  }

  /// Fails unless the elements that are accessed together are held by one thread.
  LogicalResult verifyVector(Operation *op, Type pointers, int64_t vector) {
    cta::LayoutAttr layout = cta::getLayoutAttr(pointers);
    int64_t consecutive = layout ? getConsecutiveElements(layout.getLayout()) : 1;
    if (vector <= consecutive)
      return success();
    return error(op) << "accesses " << vector << " consecutive elements but a thread holds " << consecutive << " of "
                     << pointers;
  }

  /// Fails unless all copies are awaited after this copy, in its own block.
  LogicalResult verifyAwaited(cta::AsyncCopyOp copy) {
    bool committed = false;
    for (Operation *op = copy->getNextNode(); op; op = op->getNextNode()) {
      committed |= isa<cta::AsyncCommitOp>(op);
      auto wait = dyn_cast<cta::AsyncWaitOp>(op);
      if (committed && wait && wait.getPending() == 0)
        return success();
    }
    return error(copy) << "no cta.async_commit and cta.async_wait 0 follow the copy in its block";
  }

  LogicalResult verifyScheduled(Operation *op) {
    if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op))
      if (!staysInThread(cta::getLayout(convert.getSrc().getType()), cta::getLayout(convert.getType())) &&
          !layout::movesByShuffles(cta::getLayout(convert.getSrc().getType()), cta::getLayout(convert.getType()),
                                   getBytesInMemory(getElementTypeOf(convert.getType()))))
        return error(op) << "conversion moves elements between threads: from " << convert.getSrc().getType() << " to "
                         << convert.getType();
    if (auto butterfly = dyn_cast<ButterflyOp>(op)) {
      cta::LayoutAttr from = cta::getLayoutAttr(butterfly.getSrc().getType());
      if (layout::findDistance(from.getLayout(), butterfly.getAxis(), butterfly.getDistance()).warps != 0)
        return error(op) << "elements at distance " << butterfly.getDistance() << " are in other warps in "
                         << butterfly.getSrc().getType();
    }
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (const std::vector<int32_t> &basis :
           cta::getLayout(reduce.getSrcs().front().getType()).bases(layout::warpDim))
        if (basis[reduce.getAxis()] != 0)
          return error(op) << "axis " << reduce.getAxis() << " of the reduction is spread over warps in "
                           << reduce.getSrcs().front().getType();
    return success();
  }

  LogicalResult verifyAllocated() {
    if (!kernel.getSharedBytes())
      return error(kernel) << "the kernel has no shared_bytes";
    WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
      for (Value operand : op->getOperands())
        if (isa<cta::BufferType>(operand.getType()))
          if (cta::AllocOp alloc = getAlloc(operand); !alloc || !alloc.getOffset())
            return error(op) << "buffer has no offset";
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    SmallVector<MissingBarrier> unordered = findMissingBarriers(kernel);
    if (!unordered.empty())
      return error(unordered.front().before)
             << "access to shared memory races with an earlier one of another thread; a "
             << "cta.barrier is missing";
    if (SmallVector<MissingWait> missing = findMissingWaits(kernel); !missing.empty())
      return error(missing.front().before)
             << "'" << missing.front().before->getName()
             << "' uses an accumulator before its wgmma has completed; a cta.wgmma_wait of " << missing.front().pending
             << " pending is missing";
    return success();
  }

  KernelOp kernel;
  Form form;
  std::string prefix;
};

} // namespace

StringRef tile::nameOf(Form form) {
  switch (form) {
  case Form::program:
  case Form::tile:
    return "tile";
  case Form::layout:
    return "layout";
  case Form::lowering:
  case Form::buffered:
    return "layout, or a form between layout and async";
  case Form::async:
    return "async";
  case Form::ringed:
    return "scheduled, or a form between async and scheduled";
  case Form::scheduled:
    return "scheduled";
  case Form::allocated:
    return "allocated";
  }
  llvm_unreachable("unknown form");
}

LogicalResult tile::verifyForm(KernelOp kernel, Form form, const Twine &prefix) {
  return FormVerifier(kernel, form, prefix.str()).verify();
}

LogicalResult tile::verifyRequired(KernelOp kernel, Form form, StringRef pass) {
  return verifyForm(kernel, form, pass + " needs phase " + nameOf(form));
}
