// Backward slice of the TMA reads of a kernel.
#include "Analysis/RolePlan.h"

#include "Analysis/PointerBases.h"
#include "Analysis/SharedLiveness.h"
#include "Target/GpuTarget.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

int64_t Channel::getBytesPerSlot() const {
  int64_t bytes = 0;
  for (cta::TmaLoadSyncOp load : loads)
    bytes += load.getBuffer().getType().getBytes();
  return bytes;
}

int64_t Channel::getCopiedBytes() const {
  int64_t bytes = 0;
  for (cta::TmaLoadSyncOp load : loads)
    bytes += load.getBuffer().getType().getBlockBytes();
  return bytes;
}

SmallVector<scf::ForOp> Channel::getLoops() const {
  SmallVector<scf::ForOp> loops;
  for (Operation *op = getBlock()->getParentOp(); auto loop = dyn_cast<scf::ForOp>(op); op = op->getParentOp())
    loops.insert(loops.begin(), loop);
  return loops;
}

namespace {

class RolePlanner {
public:
  explicit RolePlanner(KernelOp kernel) : kernel(kernel) {}

  std::optional<RolePlan> run(ArrayRef<Value> counters) {
    llvm::for_each(counters, [&](Value value) { need(value); });
    if (!findChannels() || !slice() || writesWhatItReads())
      return std::nullopt;
    return std::move(plan);
  }

private:
  bool findChannels() {
    llvm::MapVector<Block *, Channel> channels;
    WalkResult result = kernel.walk([&](cta::TmaLoadSyncOp load) -> WalkResult {
      Channel &channel = channels[load->getBlock()];
      channel.loads.push_back(load);
      auto alloc = load.getBuffer().getDefiningOp<cta::AllocOp>();
      if (!alloc || alloc->getBlock() != load->getBlock() || !noteUses(alloc, load, channel))
        return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted() || channels.empty())
      return false;
    for (auto &[block, channel] : channels) {
      // Only counted loops may stand between the copies and the kernel.
      SmallVector<scf::ForOp> loops = channel.getLoops();
      Operation *outermost = loops.empty() ? block->getParentOp() : loops.front()->getParentOp();
      // Without a last use there is nowhere to release the slot.
      if (outermost != kernel || !channel.lastUse)
        return false;
      plan.channels.push_back(channel);
    }
    return true;
  }

  /// Finds the last use of the buffer; false if it is used in a way that a ring slot cannot serve.
  bool noteUses(cta::AllocOp alloc, cta::TmaLoadSyncOp load, Channel &channel) {
    SmallVector<Value> views{alloc.getResult()};
    while (!views.empty()) {
      Value view = views.pop_back_val();
      for (Operation *user : view.getUsers()) {
        if (user == load)
          continue;
        if (isa<cta::TransBufferOp>(user)) {
          views.push_back(user->getResult(0));
          continue;
        }
        if (!isa<cta::LocalLoadOp, cta::WgmmaOp>(user))
          return false;
        Operation *end = user;
        if (auto product = dyn_cast<cta::WgmmaOp>(user)) {
          if (!product->hasOneUse() || !isa<cta::WgmmaWaitOp>(*product->user_begin()))
            return false;
          end = *product->user_begin();
        }
        end = load->getBlock()->findAncestorOpInBlock(*end);
        if (!end)
          return false;
        if (!channel.lastUse || channel.lastUse->isBeforeInBlock(end))
          channel.lastUse = end;
      }
    }
    return true;
  }

  /// Whether a write may go to what the producer reads.
  bool writesWhatItReads() {
    PointerBases read;
    for (Operation *op : plan.producerOps) {
      if (auto load = dyn_cast<LoadOp>(op))
        read.join(PointerBases::of(load.getPtr()));
      if (auto load = dyn_cast<cta::TmaLoadSyncOp>(op))
        read.join(PointerBases::of(load.getDesc()));
    }
    return kernel
        .walk([&](Operation *op) {
          bool isKnown = isa<StoreOp, AtomicRmwOp, cta::TmaStoreOp>(op);
          // Else it waits for other programs, or may do anything.
          bool conflicts = isKnown ? PointerBases::writtenBy(op).mayOverlap(read) : writesGlobalMemory(op);
          return conflicts ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool slice() {
    for (const Channel &channel : plan.channels)
      for (cta::TmaLoadSyncOp load : channel.loads) {
        plan.producerOps.insert(load);
        need(load.getDesc());
        if (load.getRest())
          need(load.getRest());
        for (Value offset : load.getOffsets())
          need(offset);
        for (scf::ForOp loop : channel.getLoops())
          needLoop(loop);
      }
    while (!worklist.empty())
      if (!visit(worklist.pop_back_val()))
        return false;
    return true;
  }

  void need(Value value) {
    if (seen.insert(value).second)
      worklist.push_back(value);
  }

  void needLoop(scf::ForOp loop) {
    if (!plan.producerOps.insert(loop).second)
      return;
    need(loop.getLowerBound());
    need(loop.getUpperBound());
    need(loop.getStep());
    if (auto outer = dyn_cast<scf::ForOp>(loop->getParentOp()))
      needLoop(outer);
  }

  /// A loop's argument needs where it starts and what the body yields for it.
  bool needCarried(scf::ForOp loop, unsigned index) {
    needLoop(loop);
    plan.producerArguments.insert(loop.getRegionIterArg(index));
    need(loop.getRegionIterArg(index));
    need(loop.getInitArgs()[index]);
    need(loop.getYieldedValues()[index]);
    return true;
  }

  bool visit(Value value) {
    if (isa<RankedTensorType, cta::BufferType>(value.getType()))
      return false;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop)
        return isa<KernelOp>(argument.getOwner()->getParentOp());
      return argument.getArgNumber() == 0 || needCarried(loop, argument.getArgNumber() - 1);
    }
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return needCarried(loop, cast<OpResult>(value).getResultNumber());
    bool isBranch = isa<scf::IfOp>(op); // copied as a whole
    bool makesTensor = llvm::any_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
    bool hasEffects = !isMemoryEffectFree(op) && !isa<LoadOp, cta::MakeTensorMapOp>(op);
    if ((op->getNumRegions() != 0 && !isBranch) || hasEffects || makesTensor)
      return false;
    // The operation must be reached by the producer: all around it are its loops.
    for (Operation *parent = op->getParentOp(); parent != kernel; parent = parent->getParentOp()) {
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (!loop)
        return false;
      needLoop(loop);
    }
    plan.producerOps.insert(op);
    for (Value operand : op->getOperands())
      if (!isa<cta::BufferType>(operand.getType())) // the staging memory of a tensor map: outside of the roles
        need(operand);
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(op->getRegions(), captured);
    llvm::for_each(captured, [&](Value value) { need(value); });
    return true;
  }

  KernelOp kernel;
  RolePlan plan;
  SmallVector<Value> worklist;
  DenseSet<Value> seen;
};

} // namespace

bool tile::isOfProducer(Operation *op) {
  auto roles = op->getParentOfType<cta::WarpRolesOp>();
  return roles && roles.getProducer().isAncestor(op->getParentRegion());
}

std::optional<RegisterBudget> tile::planRegisters(unsigned mathWarps) {
  constexpr unsigned warpsPerGroup = 4, producer = 40, granule = 8;
  unsigned groups = mathWarps / warpsPerGroup, groupThreads = warpsPerGroup * target::threadsPerWarp;
  if (groups < 2)
    return std::nullopt;
  unsigned math = (target::registersPerSm / groupThreads - producer) / groups / granule * granule;
  return RegisterBudget{math, producer};
}

std::optional<RolePlan> tile::planRoles(KernelOp kernel, ArrayRef<Value> counters) {
  return RolePlanner(kernel).run(counters);
}
