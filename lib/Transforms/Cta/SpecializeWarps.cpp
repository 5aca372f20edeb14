// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cta-specialize-warps: move TMA loads into a producer warp that runs ahead of the consumers.
//
// The TMA loads of one block for the same MMAs form a channel with one ring, each of whose slots has room for all of
// these loads. The producer acquires a slot when it is empty and starts the copies; the consumer warps wait until the
// slot is full and release it after its last use. Both take the same slots in the same order, across all loops and
// branches around the block, so that the producer can run ahead into the next output tile:
//
//   for k {                  consumer: for k {                          producer: for k {
//     tma_load_sync %b     ==>     %s = ring_wait %r                      %s = ring_acquire %r
//     use %b                       use the buffer of %s                   tma_load buffer of %s
//   }                              ring_release %r[%s] }                  ring_commit %r[%s] }
//
// Scalars that both roles need, such as loop bounds, are computed once, before the roles. Analysis/Programs/RolePlan.h
// decides which operations the producer needs; the consumer warps keep the remainder of the program. cta-lower-rings
// lowers the rings to mbarriers and counters.
#include "Analysis/Loops/LoopOptions.h"
#include "Analysis/Programs/RolePlan.h"
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Cta/CtaDialect.h"
#include "Target/Engines/Wgmma.h"
#include "Target/Plan/Residency.h"
#include "Target/Plan/RingSlots.h"
#include "Target/Plan/RoleRegisters.h"
#include "Target/SharedMemory.h"
#include "Transforms/Cta/CloneControl.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

#include <set>

namespace tile {
#define GEN_PASS_DEF_CTASPECIALIZEWARPS
#include "Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {

/// Returns the number of accumulator registers per thread that the MMA computes; the registers of padded columns are
/// never written.
int64_t countComputedRegisters(cta::WgmmaOp mma) {
  RankedTensorType acc = mma.getAcc().getType();
  return cta::getLayout(acc).numRegisters() * mma.getB().getType().getShape().back() / acc.getShape().back();
}

/// Returns the number of slots that a channel should have (target::chooseSlots()). Only the channel in the deepest
/// loop, if there is just one, may have more slots than the loop has stages. A channel outside of loops needs one.
unsigned chooseRingSlots(KernelOp kernel, const RolePlan &plan, const Channel &channel) {
  SmallVector<LoopLikeOpInterface> loops = channel.getLoops();
  if (loops.empty())
    return 1;
  unsigned stages = getNumStages(loops.back());
  auto isOuter = [&](const Channel &other) { return other.getLoops().size() < loops.size(); };
  if (size_t(llvm::count_if(plan.channels, isOuter)) + 1 != plan.channels.size())
    return stages;
  int64_t slotBytes = channel.getBytesPerSlot();
  target::ProducerCta taken{kernel.getNumWarps(), 0, target::ringBytes(slotBytes, stages) - slotBytes};
  kernel.walk([&](cta::WgmmaOp mma) {
    taken.accumulatorRegisters = std::max(taken.accumulatorRegisters, countComputedRegisters(mma));
  });
  kernel.walk([&](cta::AllocOp alloc) { taken.sharedBytes += alloc.getType().getBytes(); });
  return target::chooseSlots(cta::getTarget(kernel), stages, taken);
}

/// Returns register budgets with which the consumer warp groups of several CTAs share a multiprocessor, for kernels
/// with several dependent MMAs in a loop or program.
std::vector<target::SharedRoleRegisters> planChainRegisters(KernelOp kernel) {
  int64_t most = 0, accumulator = 0;
  kernel.walk([&](Operation *op) {
    if (!isa<scf::ForOp, ProgramsOp>(op))
      return;
    auto mmas = op->getRegion(0).getOps<cta::WgmmaOp>();
    if (llvm::range_size(mmas) < 2)
      return;
    int64_t registers = 0;
    for (cta::WgmmaOp mma : mmas) {
      accumulator = std::max(accumulator, countRegisters(mma.getAcc().getType()));
      registers += countRegisters(mma.getAcc().getType());
      if (auto a = dyn_cast<RankedTensorType>(mma.getA().getType()))
        registers += countRegisters(a);
    }
    most = std::max(most, registers);
  });
  if (most == 0)
    return {};
  return target::planSharedRoleRegisters(cta::getTarget(kernel), kernel.getNumWarps() / target::warpsPerGroup, most,
                                         accumulator);
}

/// Returns, for each channel, an earlier channel whose slots it continues; the channel itself if there is none.
SmallVector<unsigned> findPrevious(KernelOp kernel, const RolePlan &plan) {
  auto previous = llvm::to_vector(llvm::seq<unsigned>(0, plan.channels.size()));
  // Teams and clusters can count the slots of only one loop.
  if (kernel.getPingPong() || kernel.getClusterCtas() > 1)
    return previous;
  std::set<unsigned> continued;
  for (unsigned index = 0; index < previous.size(); ++index)
    for (unsigned other = index; other-- > 0 && previous[index] == index;)
      if (plan.channels[other].isContinuedBy(plan.channels[index]) && continued.insert(other).second)
        previous[index] = other;
  return previous;
}

/// Returns the number of slots of each channel. Returns nullopt if `capacity` bytes of shared memory do not hold the
/// minimum together with the buffers of `teams`. The minimum is one slot per channel, and `least` slots in the deepest
/// loops.
std::optional<SmallVector<int64_t>> planSlots(KernelOp kernel, const RolePlan &plan, ArrayRef<unsigned> previous,
                                              int64_t capacity, int64_t teams, unsigned least) {
  DenseSet<Operation *> channelAllocs;
  for (const Channel &channel : plan.channels)
    for (cta::TmaLoadSyncOp load : channel.loads)
      channelAllocs.insert(load.getBuffer().getDefiningOp());
  int64_t free = capacity - target::sharedAlignment;
  kernel.walk([&](cta::AllocOp alloc) {
    if (!channelAllocs.contains(alloc))
      free -= teams * alloc.getType().getBytes();
  });
  size_t depth = 0;
  for (const Channel &channel : plan.channels)
    depth = std::max(depth, channel.getLoops().size());
  std::vector<target::RingPlan> rings;
  for (auto [index, channel] : llvm::enumerate(plan.channels))
    rings.push_back({.slotBytes = channel.getBytesPerSlot(),
                     .wanted = chooseRingSlots(kernel, plan, channel),
                     .isInnermost = depth > 0 && channel.getLoops().size() == depth,
                     .shares = previous[index] != index});
  // The barriers lie in the kilobyte that is reserved for alignment.
  for (const target::RingPlan &ring : rings)
    free += ring.shares ? 0 : target::ringBytes(/*slotBytes=*/0, std::max(ring.wanted, 1u));
  std::optional<std::vector<unsigned>> planned = target::planRingSlots(rings, free, least);
  if (!planned)
    return std::nullopt;
  SmallVector<int64_t> slots;
  for (auto [index, owner] : llvm::enumerate(previous))
    slots.push_back(owner == index ? (*planned)[index] : slots[owner]);
  return slots;
}

/// The ring of a channel in the kernel.
struct ChannelRing {
  int64_t slots = 1;
  Value ring;
  /// The slot that the producer fills, while copies are emitted.
  Value slot;
  ValueRange buffers; ///< The buffers of the slot, one for each load.
};

class WarpSpecialisation {
public:
  WarpSpecialisation(KernelOp kernel, RolePlan plan, std::optional<target::RoleRegisters> budget,
                     SmallVector<unsigned> previous, ArrayRef<int64_t> slots)
      : kernel(kernel), rewriter(kernel.getContext()), plan(std::move(plan)), budget(budget),
        previous(std::move(previous)) {
    for (int64_t count : slots)
      rings.emplace_back().slots = count;
  }

  void run() {
    createRoles();
    for (unsigned index = 0; index < rings.size(); ++index)
      allocate(index);
    rewriter.setInsertionPointToStart(producer);
    cloneForProducer(*consumer);
    for (auto [channel, ring] : llvm::zip(plan.channels, rings))
      rewriteForConsumer(channel, ring.ring);
    eraseMapsOfConsumer();
  }

private:
  /// Returns true if the operation stays before the roles, so that both roles use its results: buffers, constants, and
  /// scalars that the producer also needs. Memory is read inside the roles, because operations before the roles may run
  /// before the previous grid has ended (cta-overlap-grids). Each role also queries the program index itself: sharing
  /// values derived from it does not make the compiled code shorter, and takes registers that epilogues need. Loops are
  /// not shared, because they may carry tensors of the consumer role.
  bool isShared(Operation &op, const DenseSet<Operation *> &moved) {
    if (isa<cta::AllocOp, cta::MbarrierAllocOp, cta::TensorMemoryAllocOp, arith::ConstantOp>(op))
      return true;
    if (!plan.producerOps.contains(&op) || !isMemoryEffectFree(&op) || isa<ProgramIdOp>(op))
      return false;
    WalkResult result = op.walk([&](Operation *inner) {
      bool isScalar =
          !isa<LoopLikeOpInterface>(inner) && llvm::none_of(inner->getResultTypes(), llvm::IsaPred<TensorType>);
      bool isReady =
          llvm::none_of(inner->getOperands(), [&](Value operand) { return moved.contains(operand.getDefiningOp()); });
      return isScalar && isReady ? WalkResult::advance() : WalkResult::interrupt();
    });
    return !result.wasInterrupted();
  }

  /// Moves all operations that are not shared into the consumer role.
  void createRoles() {
    Block &body = kernel.getBody().front();
    SmallVector<Operation *> moved;
    DenseSet<Operation *> isMoved;
    for (Operation &op : body.without_terminator())
      if (!isShared(op, isMoved)) {
        moved.push_back(&op);
        isMoved.insert(&op);
      }
    // The prefetch overlaps the computation of the shared scalars.
    rewriter.setInsertionPointToStart(&body);
    for (BlockArgument argument : kernel.getArguments())
      if (isa<DescType>(argument.getType()))
        cta::TmaPrefetchOp::create(rewriter, kernel.getLoc(), argument);
    rewriter.setInsertionPoint(body.getTerminator());
    unsigned ofConsumer = budget ? budget->consumer : 0, ofProducer = budget ? budget->producer : 0;
    SmallVector<Attribute> attributes{
        cta::RoleAttr::get(kernel.getContext(), "consumer", kernel.getNumWarps(), /*teams=*/1, ofConsumer,
                           /*oneThread=*/false),
        cta::RoleAttr::get(kernel.getContext(), "producer", target::countProducerWarps(budget.has_value()), /*teams=*/1,
                           ofProducer, /*oneThread=*/true)};
    roles = cta::WarpRolesOp::create(rewriter, kernel.getLoc(), rewriter.getArrayAttr(attributes), attributes.size());
    consumer = &roles.getBodies()[0].emplaceBlock();
    producer = &roles.getBodies()[1].emplaceBlock();
    for (Operation *op : moved)
      op->moveBefore(consumer, consumer->end());
  }

  void allocate(unsigned index) {
    ChannelRing &ring = rings[index];
    if (previous[index] != index) {
      ring.ring = rings[previous[index]].ring;
      return;
    }
    SmallVector<cta::BufferType> buffers;
    for (cta::TmaLoadSyncOp load : plan.channels[index].loads)
      buffers.push_back(load.getBuffer().getType());
    rewriter.setInsertionPoint(roles);
    ring.ring = cta::RingAllocOp::create(rewriter, plan.channels[index].loads.front().getLoc(),
                                         cta::RingType::get(kernel.getContext(), ring.slots, buffers));
  }

  static bool isComputation(Operation *op) { return isa<cta::MakeTensorMapOp>(op) || isMemoryEffectFree(op); }

  /// Returns true if the operation, including all operations in it, only computes and reads memory.
  static bool mayPrecedeCopies(Operation &op) {
    return !op.walk([](Operation *inner) {
                bool isControl = inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>();
                return isControl || isComputation(inner) || isa<LoadOp>(inner) ? WalkResult::advance()
                                                                               : WalkResult::interrupt();
              }).wasInterrupted();
  }

  /// Returns true if the operation, or an operation in it, uses a result of one of `others`.
  static bool usesResultOf(ArrayRef<Operation *> others, Operation &op) {
    return op
        .walk([&](Operation *inner) {
          bool uses = llvm::any_of(inner->getOperands(),
                                   [&](Value operand) { return llvm::is_contained(others, operand.getDefiningOp()); });
          return uses ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  /// Returns the operations of `block` that the producer needs. Tensor maps and their computation, including loops and
  /// branches, come before the copies to a slot, because a ring can be drained for a new map only between slots.
  SmallVector<Operation *> orderForProducer(Block &block) {
    SmallVector<Operation *> ordered;
    size_t begin = 0, open = 0; // index of the first copy to a slot; channels whose slot is partly filled
    for (Operation &op : block) {
      if (!plan.producerOps.contains(&op))
        continue;
      ArrayRef<Operation *> copies = ArrayRef(ordered).drop_front(open ? begin : ordered.size());
      if (open && mayPrecedeCopies(op) && !usesResultOf(copies, op)) {
        ordered.insert(ordered.begin() + begin++, &op);
        continue;
      }
      for (Channel &channel : plan.channels) {
        if (&op == channel.loads.front() && open++ == 0)
          begin = ordered.size();
        open -= &op == channel.loads.back();
      }
      ordered.push_back(&op);
    }
    return ordered;
  }

  /// Clones the operations of `block` that the producer needs to the insertion point.
  void cloneForProducer(Block &block) {
    for (Operation *op : orderForProducer(block)) {
      if (!isComputation(op))
        drained.clear();
      if (auto load = dyn_cast<cta::TmaLoadSyncOp>(op))
        emitProducerLoad(load);
      else if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, ProgramsOp>(op))
        ControlCloner(rewriter, mapping, plan.producerCarried, [&](Block &body) { cloneForProducer(body); }).clone(op);
      else if (auto map = dyn_cast<cta::MakeTensorMapOp>(op))
        emitProducerMap(map);
      else
        rewriter.clone(*op, mapping);
      if (!isComputation(op)) // a loop or branch may or may not have drained the rings
        drained.clear();
    }
  }

  void emitProducerLoad(cta::TmaLoadSyncOp load) {
    for (auto [channel, ring] : llvm::zip(plan.channels, rings)) {
      auto position = llvm::find(channel.loads, load);
      if (position == channel.loads.end())
        continue;
      Location loc = load.getLoc();
      if (position == channel.loads.begin()) {
        ring.slot = cta::RingAcquireOp::create(rewriter, loc, ring.ring);
        ring.buffers = cta::RingBuffersOp::create(rewriter, loc, ring.ring, ring.slot).getBuffers();
      }
      SmallVector<Value> offsets;
      for (Value offset : load.getOffsets())
        offsets.push_back(mapping.lookupOrDefault(offset));
      cta::TmaLoadOp::create(rewriter, loc, mapping.lookupOrDefault(load.getDesc()), offsets,
                             load.getTail() ? mapping.lookupOrDefault(load.getTail()) : Value(),
                             ring.buffers[position - channel.loads.begin()], ring.ring, ring.slot);
      if (load == channel.loads.back())
        cta::RingCommitOp::create(rewriter, loc, ring.ring, ring.slot);
    }
  }

  /// Emits a tensor map that replaces a previous one. Copies may still need that one, so the rings that read through
  /// the map are drained first.
  void emitProducerMap(cta::MakeTensorMapOp map) {
    Location loc = map.getLoc();
    for (auto [channel, ring] : llvm::zip(plan.channels, rings)) {
      bool reads = llvm::any_of(channel.loads, [&](cta::TmaLoadSyncOp load) { return load.getDesc() == map; });
      if (!reads || !map->getParentOfType<LoopLikeOpInterface>() ||
          !drained.insert({ring.ring, map.getNeeded()}).second)
        continue;
      OpBuilder::InsertionGuard guard(rewriter);
      if (map.getNeeded()) {
        auto branch = scf::IfOp::create(rewriter, loc, mapping.lookupOrDefault(map.getNeeded()),
                                        /*withElseRegion=*/false);
        rewriter.setInsertionPointToStart(branch.thenBlock());
      }
      cta::RingDrainOp::create(rewriter, loc, ring.ring);
    }
    cast<cta::MakeTensorMapOp>(rewriter.clone(*map, mapping)).setSingle(true);
  }

  /// Erases the maps that only the producer uses: the producer encodes them itself.
  void eraseMapsOfConsumer() {
    consumer->walk([&](cta::MakeTensorMapOp map) {
      if (map->use_empty())
        rewriter.eraseOp(map);
    });
  }

  void rewriteForConsumer(Channel &channel, Value ring) {
    Location loc = channel.loads.front().getLoc();
    rewriter.setInsertionPoint(channel.loads.front());
    Value slot = cta::RingWaitOp::create(rewriter, loc, ring);
    auto buffers = cta::RingBuffersOp::create(rewriter, loc, ring, slot);
    rewriter.setInsertionPointAfter(channel.lastUse);
    cta::RingReleaseOp::create(rewriter, loc, ring, slot, /*condition=*/Value(), channel.tokens.getArrayRef());
    for (auto [load, buffer] : llvm::zip(channel.loads, buffers.getBuffers())) {
      auto alloc = load.getBuffer().getDefiningOp<cta::AllocOp>();
      auto barrier = load.getBarrier().getDefiningOp<cta::MbarrierAllocOp>();
      rewriter.eraseOp(load);
      rewriter.replaceOp(alloc, buffer);
      rewriter.eraseOp(barrier);
    }
  }

  KernelOp kernel;
  IRRewriter rewriter;
  RolePlan plan;
  std::optional<target::RoleRegisters> budget;
  /// Rings that have been drained since the last copy, each with the condition under which it was drained.
  DenseSet<std::pair<Value, Value>> drained;
  SmallVector<unsigned> previous;
  SmallVector<ChannelRing> rings; ///< The ring of each channel.
  cta::WarpRolesOp roles;
  Block *consumer = nullptr, *producer = nullptr;
  IRMapping mapping; // from the program to the producer's copy of it
};

/// Erases loads of blocks from shared memory whose results are no longer used.
void eraseDeadReads(KernelOp kernel) {
  IRRewriter rewriter(kernel.getContext());
  SmallVector<Operation *> loads;
  kernel.walk([&](cta::LocalLoadOp load) { loads.push_back(load); });
  for (Operation *load : loads) {
    SmallVector<Operation *> chain{load};
    while (chain.back()->hasOneUse() && isa<ReshapeOp>(*chain.back()->user_begin()))
      chain.push_back(*chain.back()->user_begin());
    if (chain.back()->use_empty())
      for (Operation *op : llvm::reverse(chain))
        rewriter.eraseOp(op);
  }
}

struct CtaSpecializeWarps : tile::impl::CtaSpecializeWarpsBase<CtaSpecializeWarps> {
  void runOnKernel() override {
    KernelOp kernel = getOperation();
    const target::GpuTarget &gpu = cta::getTarget(kernel);
    // Roles consist of whole warp groups, in a CTA of at most 1024 threads.
    unsigned warps = kernel.getNumWarps();
    std::optional<target::RoleRegisters> registers = target::planRoleRegisters(gpu, warps);
    // Accumulators in tensor memory leave every role enough registers.
    if (kernel.walk([](cta::Tcgen05MmaOp) { return WalkResult::interrupt(); }).wasInterrupted())
      registers.reset();
    if (!gpu.has(target::Feature::SetMaxRegisters) || warps % target::warpsPerGroup != 0 ||
        (warps + target::countProducerWarps(registers.has_value())) * target::threadsPerWarp > target::maxThreadsPerCta)
      return;
    eraseDeadReads(kernel);
    std::optional<RolePlan> plan = planRoles(kernel);
    if (!plan)
      return;
    SmallVector<unsigned> previous = findPrevious(kernel, *plan);
    auto planFor = [&](unsigned ctas, int64_t teams) {
      return planSlots(kernel, *plan, previous, target::sharedForCtas(gpu, ctas), teams, /*least=*/ctas > 1 ? 2 : 1);
    };
    const bool isAlone = registers.has_value();
    if (!kernel.getPingPong())
      for (const target::SharedRoleRegisters &shared : planChainRegisters(kernel)) {
        if (std::optional<SmallVector<int64_t>> slots = planFor(shared.ctas, /*teams=*/1))
          return WarpSpecialisation(kernel, *plan, shared.registers, previous, *slots).run();
        // Two CTAs still fit if buffers with disjoint lifetimes share memory.
        if (!isAlone)
          registers = shared.registers;
      }
    // cta-ping-pong gives each team separate buffers.
    if (std::optional<SmallVector<int64_t>> slots = planFor(/*ctas=*/1, /*teams=*/kernel.getPingPong() ? 2 : 1))
      WarpSpecialisation(kernel, *plan, registers, previous, *slots).run();
  }
};

} // namespace
