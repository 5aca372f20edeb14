// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-multicast: load data only once if all CTAs of a cluster need it.
//
// A block that the producers of all CTAs read at the same coordinates is divided: each CTA copies its part into the
// buffers of all CTAs. Bytes are counted where they arrive, so slots become full as before; but a slot is empty only
// after the consumer warps of all CTAs have released it, because all producers write to it:
//
//   %r = ring_alloc                                        %r = ring_alloc {ctas = 2}
//   producer:  %s = ring_acquire %r                        producer:  %s = ring_acquire %r
//              tma_load %a[%m, %k], …           ==>                   tma_load %a[%m, %k], …         %m differs
//              tma_load %b[%k, %n], …                                 tma_multicast %b[%k, %n], …
//   consumer:  …                                           consumer:  …; cluster_barrier at the end
//
// All CTAs must advance through the slots in lockstep, so loops around the copies must not depend on the rank.
#include "Layout/TmaBoxes.h"
#include "Transforms/Cta/RankDependence.h"
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

std::optional<layout::TmaParts> planParts(KernelOp kernel, cta::TmaLoadOp load) {
  // A map that the kernel encodes may differ between CTAs.
  if (!isa<BlockArgument>(load.getDesc()))
    return std::nullopt;
  cta::BufferType buffer = load.getBuffer().getType();
  layout::LinearLayout layout = buffer.getLayout().getLayout();
  // The layout is split into equal parts. If the buffer is smaller than its layout, parts would reach beyond the end of
  // the buffer.
  if (layout.outShape() != buffer.getShape().vec())
    return std::nullopt;
  unsigned bytes = getBytesInMemory(buffer.getElementType());
  std::optional<layout::TmaParts> parts = layout::splitTmaBoxes(layout, bytes, kernel.getClusterCtas());
  std::optional<layout::TmaBoxes> boxes = layout::planTmaBoxes(layout, bytes);
  // If the parts have a smaller box, the tensor map changes, so no other copy may use the map.
  bool isOwnMap = llvm::all_of(load.getDesc().getUsers(),
                               [&](Operation *user) { return user == load || isa<cta::TmaPrefetchOp>(user); });
  return parts && (parts->boxes.shape == boxes->shape || isOwnMap) ? parts : std::nullopt;
}

/// Returns true if all CTAs take the slots of the ring in lockstep.
bool isInStep(cta::RingAllocOp ring, const RankDependence &ranks) {
  return llvm::none_of(ring->getUsers(),
                       [&](Operation *user) { return isa<cta::RingAcquireOp>(user) && ranks.mayDiverge(user); });
}

/// The copies that can be shared, by ring.
using SharedCopies = llvm::MapVector<cta::RingAllocOp, SmallVector<cta::TmaLoadOp>>;

SharedCopies planCopies(KernelOp kernel, cta::WarpRolesOp roles) {
  RankDependence ranks(kernel);
  SharedCopies copies;
  roles.walk([&](cta::TmaLoadOp load) {
    auto ring = load.getBarrier().getDefiningOp<cta::RingAllocOp>();
    bool differs = ranks.differs(load.getDesc()) ||
                   llvm::any_of(load.getOffsets(), [&](Value offset) { return ranks.differs(offset); });
    if (ring && !differs && isInStep(ring, ranks) && !ranks.mayDiverge(load) && planParts(kernel, load))
      copies[ring].push_back(load);
  });
  return copies;
}

class Multicast {
public:
  Multicast(KernelOp kernel, cta::WarpRolesOp roles)
      : kernel(kernel), roles(roles), rewriter(kernel.getContext()), ctas(kernel.getClusterCtas()) {}

  void run(SharedCopies &copies) {
    for (auto &[ring, loads] : copies) {
      for (cta::TmaLoadOp load : loads)
        share(load);
      cta::RingAllocOp(ring).setCtas(ctas);
    }
    // A role that reads data written by peers, or releases slots to them, must not exit before the peers are done.
    for (cta::Role role : roles.getAll())
      if (llvm::any_of(copies, [&](auto &copy) { return role.reads(copy.first); })) {
        rewriter.setInsertionPointToEnd(&role.getBody().front());
        cta::ClusterBarrierOp::create(rewriter, roles.getLoc());
      }
  }

private:
  void share(cta::TmaLoadOp load) {
    layout::TmaParts parts = *planParts(kernel, load);
    unsigned index = cast<BlockArgument>(load.getDesc()).getArgNumber();
    TensorMapAttr map = kernel.getTensorMap(index);
    if (SmallVector<int64_t> box(map.getBox()); !box.empty()) {
      // The box may have leading dimensions that the buffer omits.
      llvm::copy(parts.boxes.shape, box.end() - parts.boxes.shape.size());
      kernel.setTensorMap(index, map.withBox(box, map.getSwizzle()));
    }
    rewriter.setInsertionPoint(load);
    rewriter.replaceOpWithNewOp<cta::TmaMulticastOp>(load, load.getDesc(), load.getOffsets(), load.getBuffer(),
                                                     load.getBarrier(), load.getSlot(), ctas);
  }

  KernelOp kernel;
  cta::WarpRolesOp roles;
  IRRewriter rewriter;
  unsigned ctas;
};

struct CtaMulticast : tile::impl::CtaMulticastBase<CtaMulticast> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    cta::WarpRolesOp roles = cta::findRoles(kernel);
    if (kernel.getClusterCtas() == 1 || !roles)
      return;
    SharedCopies copies = planCopies(kernel, roles);
    if (!copies.empty())
      Multicast(kernel, roles).run(copies);
  }
};

} // namespace
