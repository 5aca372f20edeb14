// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-vectorize-access: determine how many consecutive elements a thread loads or stores at once.
//
//   %x = tile.load %p : tensor<128x!tile.ptr<f16>, #l>   ==>   %x = tile.load %p {vector = 8 : i32} : …
//
// if #l gives each thread 8 consecutive elements and the addresses count up from a multiple of 16 bytes. If the mask
// may change within a vector, as at the boundary of a tensor of unknown size, the access is `partial`. An `unaligned`
// load reads the aligned chunks that cover a vector; it stays `unaligned` only if a thread holds enough consecutive
// elements for that. The decisions are attributes because the analysis of addresses needs the tensor form. The
// program's hints about addresses are not needed afterwards and are dropped.
#include "Analysis/Addresses/AccessVector.h"
#include "Cta/CtaDialect.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tile {
#define GEN_PASS_DEF_CTAVECTORIZEACCESS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

template <typename AccessOp> void widen(AccessOp access, AxisInfoAnalysis &analysis) {
  int64_t consecutive = getAccessVector(access.getPtr(), Value(), analysis);
  int64_t uniform = getAccessVector(access.getPtr(), access.getMask(), analysis);
  access.setVector(consecutive);
  access.setPartial(uniform < consecutive);
}

void widenLoad(LoadOp load, AxisInfoAnalysis &analysis) {
  int64_t unaligned = load.getUnaligned() ? getUnalignedVector(load.getPtr(), Value(), analysis) : 1;
  load.setUnaligned(unaligned > 1);
  if (!load.getUnaligned())
    return widen(load, analysis);
  load.setVector(unaligned);
  load.setPartial(getUnalignedVector(load.getPtr(), load.getMask(), analysis) < unaligned);
}

struct CtaVectorizeAccess : tile::impl::CtaVectorizeAccessBase<CtaVectorizeAccess> {
  void runOnKernel() override {
    AxisInfoAnalysis analysis(getOperation());
    getOperation().walk([&](LoadOp load) { widenLoad(load, analysis); });
    getOperation().walk([&](StoreOp store) { widen(store, analysis); });
    getOperation().walk(
        [&](AtomicRmwOp atomic) { atomic.setVector(getAccessVector(atomic.getPtr(), atomic.getMask(), analysis)); });
    getOperation().walk([&](HintOp hint) {
      hint.replaceAllUsesWith(hint.getSrc());
      hint.erase();
    });
  }
};

} // namespace
