// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-async-copies: load dot operands asynchronously into shared memory.
//
// A tensor-core operand travels global memory -> registers -> shared memory -> registers. Where the target has cp.async
// and each thread's addresses are consecutive, the first two steps become one copy that needs no registers and that
// cta-pipeline can overlap with computation. This pass awaits each copy immediately, so the program stays correct.
//
//   %x = tile.load %p mask %m                          cta.async_copy %p, %b mask %m
//   %y = cta.convert_layout %x : #load -> #a    ==>    cta.async_commit; cta.async_wait 0
//                                                      %y = cta.local_load %b : #a
//
// A wgmma operand stays in shared memory: the store becomes a copy, and the fence follows the wait. An operand that
// several mma.sync dots use, some of them transposed, such as keys that are also values, is copied once and loaded for
// each dot. If an operand is computed from copied elements, the computation takes place in the operand's layout,
// because a buffer can be read in any layout. Vectors for these computations, such as scales, are copied as well if
// they would otherwise move between warps. If wgmma requires the other dimension of an operand to be contiguous, the
// operand is copied untransposed, and threads transpose it.
#include "Analysis/Addresses/AxisInfo.h"
#include "Analysis/Dots/DotPlan.h"
#include "Analysis/Flow/Recreate.h"
#include "Analysis/Loops/LoopContents.h"
#include "Analysis/Loops/LoopRange.h"
#include "Cta/CtaDialect.h"
#include "Layout/Factories.h"
#include "Layout/Movement.h"
#include "Layout/SharedLayouts.h"
#include "Target/GpuTarget.h"
#include "Target/Tuned.h"
#include "Transforms/Cta/CopiedLoads.h"
#include "Transforms/Cta/LoopStages.h"
#include "Transforms/Cta/Transpositions.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_CTAASYNCCOPIES
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

struct CopyPlan {
  LoadOp load;
  /// The only use of the load: a conversion to another layout, or a store to a wgmma buffer. If both are null, values
  /// computed from the loaded ones are stored to a wgmma buffer.
  cta::ConvertLayoutOp convert;
  cta::LocalStoreOp store;
  /// Set instead of `store` if the other dimension of the buffer is contiguous.
  cta::LocalStoreOp transposed;
  /// Set instead of `convert` if the load is used only by several such conversions.
  SmallVector<cta::ConvertLayoutOp> converts;
  int64_t vector;
  unsigned contiguousDim;
};

/// Returns the only operation that uses the value, directly or after a conversion.
Operation *findUser(Value value) {
  if (!value.hasOneUse())
    return nullptr;
  Operation *user = *value.user_begin();
  bool isStored = isa<cta::ConvertLayoutOp>(user) && user->hasOneUse() && isa<cta::LocalStoreOp>(*user->user_begin()) &&
                  user->getBlock() == value.getParentBlock();
  return isStored ? *user->user_begin() : user;
}

/// Returns the store of a wgmma operand (cta-assign-layouts) into a buffer of the same block.
cta::LocalStoreOp getOperandStore(Operation *op) {
  bool isFenced = op && isa_and_present<cta::ProxyFenceOp>(op->getNextNode());
  auto store = dyn_cast_or_null<cta::LocalStoreOp>(op);
  auto alloc = store ? store.getBuffer().getDefiningOp<cta::AllocOp>() : cta::AllocOp();
  bool isRead = alloc && alloc->getBlock() == op->getBlock() &&
                llvm::any_of(alloc->getUsers(), llvm::IsaPred<cta::LocalLoadOp, cta::TransBufferOp>);
  return isFenced && isRead ? store : cta::LocalStoreOp();
}

/// Returns true if the value becomes, element by element, an operand that threads store for wgmma or that mma.sync
/// uses.
bool becomesOperand(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t index = 0; index < values.size(); ++index)
    for (Operation *user : values[index].getUsers()) {
      auto dot = dyn_cast<DotOp>(user);
      if (getOperandStore(user) || (dot && dot.getAcc() != values[index]))
        return true;
      if (user->getBlock() == value.getParentBlock() &&
          (isElementwise(user) || isa<cta::ConvertLayoutOp, TransOp, ExpandDimsOp, BroadcastOp, ReshapeOp>(user)))
        values.insert_range(user->getResults());
    }
  return false;
}

/// Returns the conversions of a value, or of its transpose, for mma.sync, if it has no other uses.
SmallVector<cta::ConvertLayoutOp> collectConversions(Value value) {
  SmallVector<cta::ConvertLayoutOp> converts;
  SmallVector<Operation *> users(value.getUsers());
  while (!users.empty()) {
    Operation *user = users.pop_back_val();
    auto convert = dyn_cast<cta::ConvertLayoutOp>(user);
    bool multiplies = convert && llvm::all_of(convert->getUsers(), llvm::IsaPred<DotOp>);
    if (user->getBlock() != value.getParentBlock() || !(multiplies || isa<TransOp>(user)))
      return {};
    if (convert)
      converts.push_back(convert);
    else
      llvm::append_range(users, user->getUsers());
  }
  return converts;
}

/// Returns true if a vector is used alongside copied matrices and, without a copy, would move between warps, which
/// takes additional barriers.
bool isVectorForOtherWarps(CopyPlan plan) {
  if (!plan.convert || plan.load->getBlock()->getOps<cta::AsyncCopyOp>().empty())
    return false;
  RankedTensorType loaded = plan.convert.getSrc().getType(), needed = plan.convert.getType();
  return layout::planMovement(cta::getLayout(loaded), cta::getLayout(needed)).crossesWarps;
}

int64_t countThreads(LoadOp load) {
  return load->getParentOfType<KernelOp>().getNumWarps() * target::threadsPerWarp;
}

/// Returns the total size in bytes of the matrices that an iteration loads.
int64_t countLoadedBytes(scf::ForOp loop) {
  int64_t bytes = 0;
  for (auto load : loop.getBody()->getOps<LoadOp>())
    if (auto type = dyn_cast<RankedTensorType>(load.getType()); type && type.getRank() == 2)
      bytes += type.getNumElements() * getBytesInMemory(type.getElementType());
  return bytes;
}

/// Returns true where a copy can overlap with computation and is worthwhile. In innermost loops, copies are prefetched.
/// In a loop around the dot's loop, a copy would load the accumulator's initial value, or values that are combined with
/// the accumulator later, into as many buffers as the loop has stages, so loads are kept there. Outside of loops,
/// copies are issued together and occupy no registers, but are not worth their shared memory for elements of more than
/// two bytes. The same applies to a loop of two iterations whose copies leave shared memory for only a few CTAs. In a
/// loop of at most one iteration, nothing overlaps, so values are loaded into registers if they fit.
bool shouldCopy(LoadOp load, AxisInfoAnalysis &axisInfo) {
  constexpr int64_t operandBytes = 2;
  bool isNarrow = getBytesInMemory(getElementTypeOf(load.getType())) <= operandBytes;
  if (auto loop = dyn_cast<scf::ForOp>(load->getParentOp())) {
    const target::GpuTarget &gpu = cta::getTarget(load);
    const target::Tuned &tuned = target::tunedOf(gpu);
    uint64_t iterations = boundIterations(loop, axisInfo);
    int64_t bytes = countLoadedBytes(loop);
    bool isLarge = iterations == 2 && !isNarrow && 2 * tuned.ctasOfShortLoops * bytes > gpu.sharedPerSm;
    bool isHeld = iterations <= 1 && bytes <= tuned.singleLoadBytes * countThreads(load);
    return !isLarge && !isHeld && !LoopContents::of(loop).has(LoopContent::innerLoop);
  }
  auto kernel = dyn_cast<KernelOp>(load->getParentOp());
  return kernel && isNarrow &&
         !kernel.walk([](LoopLikeOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
}

std::optional<CopyPlan> planCopy(LoadOp load, AxisInfoAnalysis &axisInfo) {
  if (!shouldCopy(load, axisInfo) || !canBeCopied(load))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(load.getType());
  Operation *user = findUser(load);
  int64_t vector = load.getVector(), bytes = vector * getBytesInMemory(type.getElementType());
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return std::nullopt;
  CopyPlan plan{load, {}, {}, {}, {}, vector, contiguousDimOf(type)};
  if (user && user->getBlock() == load->getBlock()) {
    plan.convert = dyn_cast<cta::ConvertLayoutOp>(user);
    plan.store = getOperandStore(user);
  }
  // The store can become a copy even if the load has other users, because these can read the buffer instead.
  if (!user)
    for (Operation *other : load->getUsers())
      if (cta::LocalStoreOp store = getOperandStore(other); store && other->getBlock() == load->getBlock())
        plan.store = store;
  if (plan.store && getContiguousDim(plan.store.getBuffer().getType()) != plan.contiguousDim) {
    if (user && bytes == 16 && getContiguousDim(plan.store.getBuffer().getType()) == 1 - plan.contiguousDim)
      plan.transposed = plan.store;
    plan.store = {};
  }
  if (!plan.store && !plan.transposed && !plan.convert)
    plan.converts = collectConversions(load);
  if (type.getRank() == 1 && !isVectorForOtherWarps(plan))
    return std::nullopt;
  // A value that is only added to a dot is better loaded into registers than kept in one buffer per stage.
  return becomesOperand(load) ? std::optional(plan) : std::nullopt;
}

/// Replaces the store of a wgmma operand by a copy that is awaited before the proxy fence.
void rewriteStore(CopyPlan plan) {
  LoadOp load = plan.load;
  cta::LocalStoreOp store = plan.store;
  Value buffer = store.getBuffer();
  // An allocation that is already before the load is not moved, because other operations may use the buffer before the
  // load.
  if (Operation *alloc = buffer.getDefiningOp(); alloc->getBlock() != load->getBlock() || load->isBeforeInBlock(alloc))
    alloc->moveBefore(load);
  OpBuilder builder(load);
  cta::AsyncCopyOp::create(builder, load.getLoc(), load.getPtr(), buffer, load.getMask(), plan.vector, load.getCache());
  cta::AsyncCommitOp::create(builder, load.getLoc());
  cta::AsyncWaitOp::create(builder, load.getLoc(), 0);
  cast<cta::ProxyFenceOp>(store->getNextNode())->moveBefore(load);
  Value value = store.getValue();
  store.erase();
  if (value != load.getResult())
    value.getDefiningOp()->erase();
  if (!load->use_empty())
    load.replaceAllUsesWith(
        cta::LocalLoadOp::create(builder, load.getLoc(), cast<RankedTensorType>(load.getType()), buffer, /*start=*/{})
            .getResult());
  load.erase();
}

/// Copies the matrix untransposed; threads read the copy in the layout in which they store its transpose.
void rewriteTransposed(CopyPlan plan) {
  LoadOp load = plan.load;
  auto type = cast<RankedTensorType>(load.getType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  std::vector<unsigned> order{plan.contiguousDim, 1 - plan.contiguousDim};
  unsigned bytes = getBytesInMemory(type.getElementType());
  auto copied = layout::swizzledShared(shape, bytes, order, layout::chooseSwizzle(shape, bytes, order));
  Value buffer = copyToBuffer(load, plan.vector, cta::LayoutAttr::get(type.getContext(), copied));
  OpBuilder builder(plan.transposed);
  Value stored = plan.transposed.getValue();
  plan.transposed.getValueMutable().assign(
      readForTransposition(builder, load.getLoc(), type, buffer, plan.contiguousDim));
  eraseIfUnused(stored);
}

void rewriteCopy(CopyPlan plan) {
  if (plan.store)
    return rewriteStore(plan);
  if (plan.transposed)
    return rewriteTransposed(plan);
  LoadOp load = plan.load;
  OpBuilder builder(load);
  Location loc = load.getLoc();
  RankedTensorType read = plan.convert ? plan.convert.getType() : RankedTensorType();
  Value buffer = copyToBuffer(load, plan.vector, planCopyLayout(load, read));
  for (cta::ConvertLayoutOp convert : plan.converts) {
    Value source = convert.getSrc(), view = buffer;
    bool isTransposed = skipTranspositions(source).second;
    if (isTransposed)
      view = cta::TransBufferOp::create(builder, loc, cast<cta::BufferType>(buffer.getType()).transposed(), buffer);
    OpBuilder inPlace(convert);
    convert.replaceAllUsesWith(
        cta::LocalLoadOp::create(inPlace, loc, convert.getType(), view, /*start=*/{}).getResult());
    convert.erase();
    eraseIfUnused(source);
  }
  if (!plan.converts.empty())
    return;
  Operation *loaded = plan.convert ? plan.convert.getOperation() : load.getOperation();
  builder.setInsertionPoint(loaded);
  Type registers = loaded->getResult(0).getType();
  Value value = cta::LocalLoadOp::create(builder, loc, cast<RankedTensorType>(registers), buffer, /*start=*/{});
  loaded->getResult(0).replaceAllUsesWith(value);
  loaded->erase();
  if (loaded != load)
    load.erase();
}

/// Instead of converting a value computed from buffers, reads the buffers in the target layout, unless a thread would
/// then compute more than twice as many elements.
void readInLayoutOf(cta::ConvertLayoutOp convert) {
  LayoutSlicer slicer(/*readsBuffers=*/true);
  Value src = convert.getSrc();
  cta::LayoutAttr layout = cta::getLayoutAttr(convert.getType());
  const int64_t smallPart = target::tunedOf(cta::getTarget(convert)).rereadShare;
  LayoutSlice slice = slicer.plan(src, layout, std::max<int64_t>(LayoutSlicer::bytesOf(src) / smallPart, 1));
  bool repeats = layout.getLayout().numRegisters() > 2 * cta::getLayout(src.getType()).numRegisters();
  bool readsBuffer = false, staysInBlock = true;
  for (Value value : llvm::make_first_range(slice.recreated)) {
    Operation *op = value.getDefiningOp();
    readsBuffer |= isa_and_present<cta::LocalLoadOp>(op);
    staysInBlock &= op && (op->getBlock() == convert->getBlock() || isMemoryEffectFree(op)) && op->getNumRegions() == 0;
  }
  if (slice.isTooExpensive() || repeats || !readsBuffer || !staysInBlock)
    return;
  convert.replaceAllUsesWith(slicer.rewrite(src, layout));
  convert.erase();
  eraseIfUnused(src);
}

/// Rounds values right after they are loaded from a buffer: until then they take twice as many registers.
void roundAtOnce(cta::LocalLoadOp load) {
  auto round = load->hasOneUse() ? dyn_cast<arith::TruncFOp>(*load->user_begin()) : arith::TruncFOp();
  if (round && round->getBlock() == load->getBlock())
    round->moveAfter(load);
}

struct CtaAsyncCopies : tile::impl::CtaAsyncCopiesBase<CtaAsyncCopies> {
  void runOnKernel() override {
    const target::GpuTarget &gpu = cta::getTarget(getOperation());
    if (!gpu.has(target::Feature::AsyncCopy))
      return;
    if (!copy(/*rank=*/2))
      return;
    SmallVector<cta::ConvertLayoutOp> converts;
    getOperation().walk([&](cta::ConvertLayoutOp convert) { converts.push_back(convert); });
    llvm::for_each(converts, readInLayoutOf);
    // Vectors are copied last: which elements of a vector (such as scales along K) each thread needs is known only now.
    copy(/*rank=*/1);
    getOperation().walk(roundAtOnce);
  }

private:
  bool copy(int64_t rank) {
    SmallVector<CopyPlan> plans;
    AxisInfoAnalysis axisInfo(getOperation());
    getOperation().walk([&](LoadOp load) {
      auto type = dyn_cast<RankedTensorType>(load.getType());
      if (!type || type.getRank() != rank)
        return;
      if (std::optional<CopyPlan> plan = planCopy(load, axisInfo))
        plans.push_back(*plan);
    });
    llvm::for_each(plans, rewriteCopy);
    return !plans.empty();
  }
};

} // namespace
