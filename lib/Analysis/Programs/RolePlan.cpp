// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the backward slice of a kernel's TMA loads.
#include "Analysis/Programs/RolePlan.h"

#include "Analysis/Addresses/PointerBases.h"
#include "Analysis/Programs/RoleSlice.h"
#include "Analysis/SharedMemory/SharedLiveness.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tile;

int64_t Channel::getBytesPerSlot() const {
  int64_t bytes = 0;
  for (cta::TmaLoadSyncOp load : loads)
    bytes += load.getBuffer().getType().getBytes();
  return bytes;
}

SmallVector<Operation *> Channel::getPath() const {
  SmallVector<Operation *> path;
  for (Operation *op = getBlock()->getParentOp(); !isa<KernelOp, cta::WarpRolesOp>(op); op = op->getParentOp())
    path.insert(path.begin(), op);
  return path;
}

SmallVector<LoopLikeOpInterface> Channel::getLoops() const {
  SmallVector<LoopLikeOpInterface> loops;
  for (Operation *op : getPath())
    if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
      loops.push_back(loop);
  return loops;
}

bool Channel::isContinuedBy(const Channel &next) const {
  auto haveEqualBuffers = [](cta::TmaLoadSyncOp a, cta::TmaLoadSyncOp b) {
    return a.getBuffer().getType() == b.getBuffer().getType();
  };
  // Before the kernel rebuilds a tensor map, it awaits all copies of the ring. So a ring cannot be shared by loads with
  // such maps.
  auto hasOwnMap = [](cta::TmaLoadSyncOp load) { return load.getDesc().getDefiningOp<cta::MakeTensorMapOp>(); };
  SmallVector<Operation *> path = getPath(), other = next.getPath();
  if (path.empty() || other.empty() || path.back()->getBlock() != other.back()->getBlock() ||
      !isa<scf::ForOp>(path.back()) || !isa<scf::ForOp>(other.back()))
    return false;
  return path.back()->isBeforeInBlock(other.back()) && loads.size() == next.loads.size() &&
         llvm::all_of_zip(loads, next.loads, haveEqualBuffers) && llvm::none_of(loads, hasOwnMap) &&
         llvm::none_of(next.loads, hasOwnMap);
}

namespace {

class RolePlanner {
public:
  explicit RolePlanner(KernelOp kernel) : kernel(kernel) {}

  std::optional<RolePlan> run() {
    if (!findChannels())
      return std::nullopt;
    excludeWrittenBuffers();
    if (plan.channels.empty() || !slice() || writesReadBuffers())
      return std::nullopt;
    return std::move(plan);
  }

private:
  bool findChannels() {
    collectLoads(kernel.getBody().front());
    splitByReaders();
    for (Channel &channel : plan.channels) {
      for (cta::TmaLoadSyncOp load : channel.loads) {
        auto alloc = load.getBuffer().getDefiningOp<cta::AllocOp>();
        auto barrier = load.getBarrier().getDefiningOp<cta::MbarrierAllocOp>();
        if (!alloc || alloc->getBlock() != load->getBlock() || !barrier || !barrier->hasOneUse() ||
            !noteUses(alloc, load, channel))
          return false;
      }
      // Without a last use, there would be no point at which to release the slot.
      if (!channel.lastUse)
        return false;
    }
    return !plan.channels.empty();
  }

  /// Returns true if each slot of a ring would start at an address to which TMA may copy. Otherwise, the load stays
  /// where it is.
  static bool hasAlignedSlots(cta::TmaLoadSyncOp load) {
    constexpr int64_t tmaAlignment = 128; // PTX ISA, "cp.async.bulk.tensor"
    return load.getBuffer().getType().getBytesPerSlot() % tmaAlignment == 0;
  }

  /// Collects the loads of a block into channels, and returns true if there are any. Loads before and after a loop form
  /// two channels if the loop also contains loads. If both were awaited before the loop, producer and consumer would
  /// wait for each other: the consumer for loads that the producer issues only after the loop, and the producer for
  /// slots that the consumer releases only in the loop.
  bool collectLoads(Block &block) {
    bool any = false;
    std::optional<size_t> current; // the index of the channel that is being filled
    for (Operation &op : block) {
      if (auto load = dyn_cast<cta::TmaLoadSyncOp>(op); load && hasAlignedSlots(load)) {
        if (!current) {
          current = plan.channels.size();
          plan.channels.emplace_back();
        }
        plan.channels[*current].loads.push_back(load);
        any = true;
      }
      bool anyInside = false;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          anyInside |= collectLoads(inner);
      if (anyInside)
        current.reset();
      any |= anyInside;
    }
    return any;
  }

  /// Splits copies that no MMA reads together into separate channels. Then the slot of one channel may be released, and
  /// that channel's next slot awaited, while the slot of the other channel is still in use.
  void splitByReaders() {
    SmallVector<Channel> parts;
    for (Channel &channel : plan.channels) {
      SmallVector<std::pair<Channel, DenseSet<Operation *>>> found;
      for (cta::TmaLoadSyncOp load : channel.loads) {
        Channel alone;
        alone.loads.push_back(load);
        std::pair<Channel, DenseSet<Operation *>> own(alone, findReaders(load));
        for (auto &other : found)
          if (llvm::any_of(own.second, [&](Operation *op) { return other.second.contains(op); })) {
            other.first.loads.append(own.first.loads);
            other.second.insert_range(own.second);
            own = std::exchange(other, {});
          }
        llvm::erase_if(found, [](const auto &part) { return part.first.loads.empty(); });
        found.push_back(std::move(own));
      }
      for (auto &part : found) {
        llvm::sort(part.first.loads, [](cta::TmaLoadSyncOp a, cta::TmaLoadSyncOp b) { return a->isBeforeInBlock(b); });
        parts.push_back(part.first);
      }
    }
    plan.channels = std::move(parts);
  }

  /// Returns the MMAs that read the block. A null entry stands for all other readers, whose operands can share one
  /// channel.
  DenseSet<Operation *> findReaders(cta::TmaLoadSyncOp load) {
    DenseSet<Operation *> readers;
    SmallVector<Value> views{load.getBuffer()};
    while (!views.empty())
      for (Operation *user : views.pop_back_val().getUsers()) {
        if (isa<cta::TransBufferOp>(user))
          views.push_back(user->getResult(0));
        else if (user != load)
          readers.insert(isa<cta::WgmmaOp, cta::Tcgen05MmaOp>(user) ? user : nullptr);
      }
    if (readers.empty())
      readers.insert(nullptr);
    return readers;
  }

  /// Finds the last use of the buffer. Returns false if there is a use that cannot read a ring slot.
  bool noteUses(cta::AllocOp alloc, cta::TmaLoadSyncOp load, Channel &channel) {
    SmallVector<Value> views{alloc.getResult()};
    while (!views.empty()) {
      Value view = views.pop_back_val();
      for (Operation *user : view.getUsers()) {
        if (user == load)
          continue;
        if (isa<cta::TransBufferOp>(user)) {
          // The view must be created after the wait for the slot, so it must not come before the load.
          Operation *begin = load->getBlock()->findAncestorOpInBlock(*user);
          if (!begin || begin->isBeforeInBlock(load))
            return false;
          views.push_back(user->getResult(0));
          continue;
        }
        if (!isa<cta::LocalLoadOp, cta::WgmmaOp, cta::Tcgen05MmaOp>(user))
          return false;
        Operation *end = user;
        if (isa<cta::Tcgen05MmaOp>(user)) // the MMA is awaited immediately
          while (!isa<cta::Tcgen05AwaitOp>(end))
            end = end->getNextNode();
        if (auto wgmma = dyn_cast<cta::WgmmaOp>(user)) {
          if (!wgmma.getResult().hasOneUse() || !isa<cta::AwaitOp>(*wgmma.getResult().user_begin()))
            return false;
          end = *wgmma.getResult().user_begin();
          if (wgmma->getBlock() == load->getBlock()) // wgmmas inside loops and branches are awaited there
            channel.tokens.insert(wgmma.getToken());
        }
        Operation *begin = load->getBlock()->findAncestorOpInBlock(*user);
        end = load->getBlock()->findAncestorOpInBlock(*end);
        if (!begin || !end || !load->isBeforeInBlock(begin) || !load->isBeforeInBlock(end))
          return false;
        if (!channel.lastUse || channel.lastUse->isBeforeInBlock(end))
          channel.lastUse = end;
      }
    }
    return true;
  }

  /// Excludes loads from memory that the program also writes; the consumer warps execute such loads. If some of them
  /// are in the deepest loops, excludes nothing: a producer that cannot prefetch in these loops gains nothing.
  void excludeWrittenBuffers() {
    if (kernel.getPingPong()) // each team would need a separate barrier for the copies
      return;
    PointerBases written;
    kernel.walk([&](Operation *op) {
      if (isa<StoreOp, AtomicRmwOp, cta::TmaStoreOp>(op))
        written.join(PointerBases::writtenBy(op));
    });
    auto isWritten = [&](const Channel &channel) {
      return llvm::any_of(
          channel.loads, [&](cta::TmaLoadSyncOp load) { return PointerBases::of(load.getDesc()).mayOverlap(written); });
    };
    size_t deepest = 0, deepestWritten = 0;
    for (const Channel &channel : plan.channels) {
      size_t &depth = isWritten(channel) ? deepestWritten : deepest;
      depth = std::max(depth, channel.getLoops().size());
    }
    if (deepestWritten < deepest)
      llvm::erase_if(plan.channels, isWritten);
  }

  /// Returns true if the kernel may write to memory that the producer reads.
  bool writesReadBuffers() {
    PointerBases read;
    for (Operation *op : plan.producerOps) {
      if (auto load = dyn_cast<LoadOp>(op))
        read.join(PointerBases::of(load.getPtr()));
      if (auto load = dyn_cast<cta::TmaLoadSyncOp>(op))
        read.join(PointerBases::of(load.getDesc()));
    }
    return kernel
        .walk([&](Operation *op) {
          // An atomic update whose result is used in a while loop waits for other programs.
          bool waits = !op->use_empty() && op->getParentOfType<scf::WhileOp>();
          bool isKnown = isa<StoreOp, cta::TmaStoreOp>(op) || (isa<AtomicRmwOp>(op) && !waits);
          // The producer itself waits for flags. A barrier orders accesses to memory that the program writes, and all
          // such memory is known.
          if (isa<WaitFlagOp, BarrierOp>(op))
            return WalkResult::advance();
          // Other operations wait for other programs, or have unknown effects.
          bool conflicts = isKnown ? PointerBases::writtenBy(op).mayOverlap(read) : writesGlobalMemory(op);
          return conflicts ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool slice() {
    RoleSlice slice(kernel);
    for (const Channel &channel : plan.channels)
      for (cta::TmaLoadSyncOp load : channel.loads) {
        slice.need(load.getDesc());
        if (load.getTail())
          slice.need(load.getTail());
        for (Value offset : load.getOffsets())
          slice.need(offset);
        if (!slice.add(load))
          return false;
      }
    // The producer waits for all flags, because the thread that sets a flag may have written the data that the producer
    // copies.
    WalkResult flags = kernel.walk([&](WaitFlagOp wait) {
      llvm::for_each(wait->getOperands(), [&](Value operand) { slice.need(operand); });
      return slice.add(wait) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (flags.wasInterrupted() || !slice.close())
      return false;
    plan.producerOps = std::move(slice.ops);
    plan.producerCarried = std::move(slice.carried);
    return true;
  }

  KernelOp kernel;
  RolePlan plan;
};

} // namespace

int64_t tile::countRegisters(RankedTensorType type) {
  return llvm::divideCeil(cta::getLayout(type).numRegisters() * getBytesInMemory(type.getElementType()), 4);
}

int64_t tile::countRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? countRegisters(type) : 1;
}

std::optional<RolePlan> tile::planRoles(KernelOp kernel) {
  return RolePlanner(kernel).run();
}
