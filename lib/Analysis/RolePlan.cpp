// Backward slice of the TMA reads of a kernel.
#include "Analysis/RolePlan.h"

#include "Analysis/SharedLiveness.h"

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
    if (!findChannels() || writesWhatItReads() || !slice())
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

  /// Whether a write may go to a tensor that TMA reads; different parameters are taken to be different tensors.
  bool writesWhatItReads() {
    DenseSet<Attribute> read;
    for (const Channel &channel : plan.channels)
      for (cta::TmaLoadSyncOp load : channel.loads)
        read.insert(baseOf(load.getDesc()));
    return kernel
        .walk([&](Operation *op) {
          bool conflicts = false;
          if (auto store = dyn_cast<cta::TmaStoreOp>(op))
            conflicts = read.contains(baseOf(store.getDesc()));
          if (auto store = dyn_cast<StoreOp>(op)) {
            DenseSet<Value> visited;
            conflicts = mayPointTo(store.getPtr(), read, visited);
          }
          if (auto update = dyn_cast<AtomicRmwOp>(op)) {
            DenseSet<Value> visited;
            conflicts = mayPointTo(update.getPtr(), read, visited);
          }
          // What waits for other programs, or may do anything.
          if (!isa<StoreOp, AtomicRmwOp>(op) && writesGlobalMemory(op))
            conflicts = true;
          return conflicts ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// The name of the pointer parameter behind a descriptor.
  Attribute baseOf(Value desc) {
    auto map = kernel.getArgAttrOfType<DictionaryAttr>(cast<BlockArgument>(desc).getArgNumber(),
                                                       KernelOp::getTensorMapAttrName());
    return map.get("base");
  }

  /// Follows the pointers that `pointer` is computed from back to parameters.
  bool mayPointTo(Value pointer, const DenseSet<Attribute> &names, DenseSet<Value> &visited) {
    if (!visited.insert(pointer).second)
      return false;
    auto follow = [&](Value value) {
      return isa<PtrType>(getElementTypeOf(value.getType())) && mayPointTo(value, names, visited);
    };
    if (auto argument = dyn_cast<BlockArgument>(pointer)) {
      if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())) {
        unsigned index = argument.getArgNumber() - 1;
        return follow(loop.getInitArgs()[index]) || follow(loop.getYieldedValues()[index]);
      }
      bool isParameter = isa<KernelOp>(argument.getOwner()->getParentOp());
      return !isParameter ||
             names.contains(StringAttr::get(kernel.getContext(), kernel.getArgName(argument.getArgNumber())));
    }
    Operation *op = pointer.getDefiningOp();
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      unsigned index = cast<OpResult>(pointer).getResultNumber();
      return follow(loop.getInitArgs()[index]) || follow(loop.getYieldedValues()[index]);
    }
    // A pointer read from memory or made by control flow may point anywhere.
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return true;
    return llvm::any_of(op->getOperands(), follow);
  }

  bool slice() {
    for (const Channel &channel : plan.channels)
      for (cta::TmaLoadSyncOp load : channel.loads) {
        plan.producerOps.insert(load);
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
    if ((op->getNumRegions() != 0 && !isBranch) || !isMemoryEffectFree(op) || makesTensor)
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

std::optional<RolePlan> tile::planRoles(KernelOp kernel, ArrayRef<Value> counters) {
  return RolePlanner(kernel).run(counters);
}
