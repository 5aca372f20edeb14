// cta-multicast: let the CTAs of a cluster read what all of them need only once.
//
// A block that the producers of all CTAs read at the same place is divided: each CTA copies its part into the buffers
// of all. Bytes count where they arrive, so `full` barriers expect what they did; but a slot is empty only when the
// consumer warps of all CTAs have released it, because all producers write to it:
//
//   producer:  wait empty[slot]                            producer:  wait empty[slot]
//              expect full[slot], bytes                               expect full[slot], bytes
//              tma_load %a[%m, %k], …           ==>                   tma_load %a[%m, %k], …         %m differs
//              tma_load %b[%k, %n], …                                 tma_multicast %b[%k, %n], …
//   consumer:  arrive empty[slot]                          consumer:  arrive empty[slot] {ctas = 2}
//                                                                     cluster_barrier at the end
//
// All CTAs must go through the slots in step, so loops around the copies must not depend on the rank.
#include "Analysis/RankDependence.h"
#include "Layout/TmaBoxes.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace tile {
#define GEN_PASS_DEF_CTAMULTICAST
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// The copies to one slot that can be shared, and the wait for the slot.
struct SharedCopies {
  SmallVector<cta::TmaLoadOp> loads;
  cta::MbarrierWaitOp wait;
};

std::optional<layout::TmaParts> planParts(KernelOp kernel, cta::TmaLoadOp load) {
  // A map that the kernel makes may be another one in each CTA.
  if (!isa<BlockArgument>(load.getDesc()))
    return std::nullopt;
  cta::BufferType buffer = load.getBuffer().getType();
  layout::LinearLayout layout = buffer.getLayout().getLayout();
  // Parts are counted in powers of two: of a layout of which the buffer has less they would reach beyond its end.
  if (layout.outShape() != buffer.getShape().vec())
    return std::nullopt;
  unsigned bytes = getBytesInMemory(buffer.getElementType());
  std::optional<layout::TmaParts> parts = layout::splitTmaBoxes(layout, bytes, kernel.getClusterCtas());
  std::optional<layout::TmaBoxes> boxes = layout::planTmaBoxes(layout, bytes);
  // A smaller box changes the tensor map, which must then be for this copy alone.
  bool isOwnMap = llvm::all_of(load.getDesc().getUsers(),
                               [&](Operation *user) { return user == load || isa<cta::TmaPrefetchOp>(user); });
  return parts && (parts->boxes.shape == boxes->shape || isOwnMap) ? parts : std::nullopt;
}

/// The wait before the copies to a slot; null if there is none in their block.
cta::MbarrierWaitOp findWait(cta::TmaLoadOp load) {
  for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode())
    if (auto wait = dyn_cast<cta::MbarrierWaitOp>(op))
      return wait;
  return {};
}

/// None if nothing can be shared.
SmallVector<SharedCopies> planCopies(KernelOp kernel, cta::WarpRolesOp roles) {
  RankDependence ranks(kernel);
  llvm::MapVector<Operation *, SharedCopies> plans; // by the wait
  roles.getProducer().walk([&](cta::TmaLoadOp load) {
    // A tensor map that the kernel makes is the CTA's own.
    bool differs = ranks.differs(load.getDesc()) ||
                   llvm::any_of(load.getOffsets(), [&](Value offset) { return ranks.differs(offset); });
    cta::MbarrierWaitOp wait = findWait(load);
    if (wait && !differs && !ranks.differs(load.getSlot()) && !ranks.mayDiverge(load) && planParts(kernel, load)) {
      plans[wait].loads.push_back(load);
      plans[wait].wait = wait;
    }
  });
  SmallVector<SharedCopies> copies;
  for (auto &[wait, plan] : plans)
    copies.push_back(plan);
  return copies;
}

class Multicast {
public:
  Multicast(KernelOp kernel, cta::WarpRolesOp roles)
      : kernel(kernel), roles(roles), rewriter(kernel.getContext()), ctas(kernel.getClusterCtas()) {}

  void run(const SmallVector<SharedCopies> &copies) {
    for (const SharedCopies &plan : copies) {
      for (cta::TmaLoadOp load : plan.loads)
        share(load);
      shareSlots(plan.wait);
    }
    rewriter.setInsertionPointToEnd(&roles.getConsumer().front());
    cta::ClusterBarrierOp::create(rewriter, roles.getLoc());
  }

private:
  void share(cta::TmaLoadOp load) {
    layout::TmaParts parts = *planParts(kernel, load);
    unsigned index = cast<BlockArgument>(load.getDesc()).getArgNumber();
    auto map = kernel.getArgAttrOfType<DictionaryAttr>(index, KernelOp::getTensorMapAttrName());
    if (auto box = map.getAs<DenseI64ArrayAttr>("box")) {
      // The box may have leading dimensions that the buffer lacks.
      SmallVector<int64_t> extents(box.asArrayRef());
      llvm::copy(parts.boxes.shape, extents.end() - parts.boxes.shape.size());
      NamedAttrList entries(map);
      entries.set("box", rewriter.getDenseI64ArrayAttr(extents));
      kernel.setArgAttr(index, KernelOp::getTensorMapAttrName(), entries.getDictionary(kernel.getContext()));
    }
    rewriter.setInsertionPoint(load);
    rewriter.replaceOpWithNewOp<cta::TmaMulticastOp>(load, load.getDesc(), load.getOffsets(), load.getBuffer(),
                                                     load.getBarrier(), load.getSlot(), ctas);
  }

  /// The consumer warps of all CTAs release the slots of all.
  void shareSlots(cta::MbarrierWaitOp wait) {
    auto empty = wait.getBarrier().getDefiningOp<cta::MbarrierAllocOp>();
    empty.setArrivals(empty.getArrivals() * ctas);
    for (Operation *user : empty->getUsers())
      if (auto arrive = dyn_cast<cta::MbarrierArriveOp>(user))
        arrive.setCtas(ctas);
  }

  KernelOp kernel;
  cta::WarpRolesOp roles;
  IRRewriter rewriter;
  unsigned ctas;
};

struct CtaMulticast : tile::impl::CtaMulticastBase<CtaMulticast> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    auto roles = kernel.getBody().front().getOps<cta::WarpRolesOp>();
    if (kernel.getClusterCtas() == 1 || !llvm::hasSingleElement(roles))
      return;
    SmallVector<SharedCopies> copies = planCopies(kernel, *roles.begin());
    if (!copies.empty())
      Multicast(kernel, *roles.begin()).run(copies);
  }
};

} // namespace
