// cta-async-copies: load operands of products asynchronously into shared memory.
//
// A tensor-core operand travels global memory -> registers -> shared memory -> registers. Where the target has cp.async
// and each thread's addresses are consecutive, the first two steps become one copy that needs no registers and that
// cta-pipeline can overlap with computation. Here each copy is awaited at once, so the program stays right.
//
//   %x = tile.load %p mask %m                          cta.async_copy %p, %b mask %m
//   %y = cta.convert_layout %x : #load -> #a    ==>    cta.async_commit; cta.async_wait 0
//                                                      %y = cta.local_load %b : #a
#include "Analysis/FindTarget.h"
#include "Cta/CtaDialect.h"
#include "Layout/SharedLayouts.h"
#include "Target/GpuTarget.h"
#include "Transforms/Cta/LoopStages.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace tile {
#define GEN_PASS_DEF_CTAASYNCCOPIES
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct CopyPlan {
  LoadOp load;
  cta::ConvertLayoutOp convert;
  int64_t vector;
  unsigned contiguousDim;
};

/// Zero is what an asynchronous copy writes where its mask is false; -0.0 has other bits.
bool isZero(Value value) {
  if (auto splat = value ? value.getDefiningOp<SplatOp>() : SplatOp())
    value = splat.getScalar();
  return !value || matchPattern(value, m_Zero()) || matchPattern(value, m_PosZeroFloat());
}

/// The dimension in which a thread's consecutive registers are consecutive: the one that register bit 0 moves along.
unsigned contiguousDimOf(RankedTensorType type) {
  layout::Bases registers = cta::getLayout(type).bases(layout::registerDim);
  if (!registers.empty())
    for (auto [dim, step] : llvm::enumerate(registers.front()))
      if (step == 1)
        return dim;
  return type.getRank() - 1;
}

std::optional<CopyPlan> planCopy(LoadOp load) {
  // Copies run ahead in innermost loops. Around a product's loop they would be what begins or ends the sum, in as many
  // buffers as the loop has stages.
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (!loop || hasInnerLoop(loop) || load.getIsVolatile() || load.getPartial() || !load->hasOneUse() ||
      !isZero(load.getOther()))
    return std::nullopt;
  auto convert = dyn_cast<cta::ConvertLayoutOp>(*load->user_begin());
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!convert || !type || type.getRank() != 2 || convert->getBlock() != load->getBlock())
    return std::nullopt;
  int64_t vector = load.getVector(), bytes = vector * getBytesInMemory(type.getElementType());
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return std::nullopt;
  return CopyPlan{load, convert, vector, contiguousDimOf(type)};
}

void rewriteCopy(CopyPlan plan) {
  LoadOp load = plan.load;
  OpBuilder builder(load);
  Location loc = load.getLoc();
  auto type = cast<RankedTensorType>(load.getType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  std::vector<unsigned> order{plan.contiguousDim, 1 - plan.contiguousDim};
  unsigned bytes = getBytesInMemory(type.getElementType());
  auto shared = cta::LayoutAttr::get(
      type.getContext(), layout::swizzledShared(shape, bytes, order, layout::chooseSwizzle(shape, bytes, order)));
  auto bufferType = cta::BufferType::get(type.getContext(), type.getShape(), type.getElementType(), shared, 1);
  Value buffer = cta::AllocOp::create(builder, loc, bufferType, /*offset=*/IntegerAttr());
  cta::AsyncCopyOp::create(builder, loc, load.getPtr(), buffer, load.getMask(), plan.vector, load.getCache());
  cta::AsyncCommitOp::create(builder, loc);
  cta::AsyncWaitOp::create(builder, loc, 0);
  builder.setInsertionPoint(plan.convert);
  Value value = cta::LocalLoadOp::create(builder, loc, plan.convert.getType(), buffer, /*start=*/{});
  plan.convert.getResult().replaceAllUsesWith(value);
  plan.convert->erase();
  load.erase();
}

struct CtaAsyncCopies : tile::impl::CtaAsyncCopiesBase<CtaAsyncCopies> {
  using CtaAsyncCopiesBase::CtaAsyncCopiesBase;

  void runOnKernel() override {
    const target::GpuTarget *gpu = findTargetOrEmitError(target, getOperation());
    if (!gpu)
      return signalPassFailure();
    if (!gpu->has(target::Feature::AsyncCopy))
      return;
    SmallVector<CopyPlan> plans;
    getOperation().walk([&](LoadOp load) {
      if (std::optional<CopyPlan> plan = planCopy(load))
        plans.push_back(*plan);
    });
    llvm::for_each(plans, rewriteCopy);
  }
};

} // namespace
