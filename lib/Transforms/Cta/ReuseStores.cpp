// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-reuse-stores: read a tile that threads stored instead of storing a copy of it.
//
// A kernel that keeps a state often stores it twice in an iteration: for a wgmma, and for the conversion of the layout
// with which the state is written to global memory. If both buffers have the same layout, one of them is enough:
//
//   local_store %x, %a                         local_store %x, %a
//   local_store %x, %b                 ==>     %y = local_load %a
//   %y = local_load %b                         wgmma %c, %a
//   wgmma %c, %a
//
// Neither buffer may be written again, so that the first one still holds the tile wherever the second one is read.
// A buffer that is allocated in a loop belongs to one iteration.
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

namespace tile {
#define GEN_PASS_DEF_CTAREUSESTORES
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Returns true if `store` writes the whole buffer, and all other users of the buffer only read it. They may read it
/// through a view.
bool isOnlyStore(cta::LocalStoreOp store) {
  auto alloc = store.getBuffer().getDefiningOp<cta::AllocOp>();
  return alloc && alloc->getBlock() == store->getBlock() && llvm::all_of(alloc->getUsers(), [&](Operation *user) {
           return user == store || isa<cta::LocalLoadOp, cta::WgmmaOp>(user) ||
                  (isa<cta::TransBufferOp>(user) &&
                   llvm::all_of(user->getUsers(), llvm::IsaPred<cta::LocalLoadOp, cta::WgmmaOp>));
         });
}

/// Returns the first store of the same tile to a buffer of the same type in the block, or null.
cta::LocalStoreOp findEarlierStore(cta::LocalStoreOp store) {
  cta::LocalStoreOp first;
  for (Operation *user : store.getValue().getUsers()) {
    auto other = dyn_cast<cta::LocalStoreOp>(user);
    if (other && other != store && other->getBlock() == store->getBlock() && other->isBeforeInBlock(store) &&
        other.getBuffer().getType() == store.getBuffer().getType() && other.getFirst() == store.getFirst() &&
        isOnlyStore(other) && (!first || other->isBeforeInBlock(first)))
      first = other;
  }
  return first;
}

struct CtaReuseStores : tile::impl::CtaReuseStoresBase<CtaReuseStores> {
  void runOnKernel() override {
    SmallVector<cta::LocalStoreOp> stores;
    getOperation().walk([&](cta::LocalStoreOp store) { stores.push_back(store); });
    for (cta::LocalStoreOp store : stores) {
      cta::LocalStoreOp earlier = isOnlyStore(store) ? findEarlierStore(store) : nullptr;
      if (!earlier)
        continue;
      auto alloc = store.getBuffer().getDefiningOp<cta::AllocOp>();
      store.erase();
      alloc.replaceAllUsesWith(earlier.getBuffer());
      alloc.erase();
    }
  }
};

} // namespace
