// cta-vectorize-access: find how many consecutive elements a thread can load or store at once.
//
//   %x = tile.load %p : tensor<128x!tile.ptr<f16>, #l>   ==>   %x = tile.load %p {vector = 8 : i32} : …
//
// if #l gives each thread 8 consecutive elements, the addresses count up from a multiple of 16 bytes there, and the
// mask does not change within them. The decision is an attribute because the analysis of addresses needs the tensor
// form.
#include "Analysis/AccessVector.h"
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

struct CtaVectorizeAccess : tile::impl::CtaVectorizeAccessBase<CtaVectorizeAccess> {
  void runOnOperation() override {
    AxisInfoAnalysis analysis(getOperation());
    getOperation().walk([&](LoadOp load) { load.setVector(getAccessVector(load.getPtr(), load.getMask(), analysis)); });
    getOperation().walk(
        [&](StoreOp store) { store.setVector(getAccessVector(store.getPtr(), store.getMask(), analysis)); });
  }
};

} // namespace
