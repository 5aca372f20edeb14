// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes the early operations of a loop one iteration ahead; see RunAhead.h.
#include "Transforms/Cta/RunAhead.h"

#include "Analysis/Loops/LoopRange.h"
#include "Analysis/Programs/RolePlan.h"
#include "Cta/CtaDialect.h"
#include "Target/Plan/Residency.h"
#include "Target/Tuned.h"
#include "Transforms/Cta/PeelLoop.h"
#include "Transforms/I32Arith.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <functional>
#include <set>

using namespace mlir;
using namespace tile;

void tile::avoidBranch(cta::RingReleaseOp release) {
  if (release.getCondition())
    return;
  OpBuilder builder(release);
  release.getConditionMutable().assign(arith::ConstantIntOp::create(builder, release.getLoc(), builder.getI1Type(), 1));
}

int64_t tile::countThreadRegisters(Operation *op) {
  if (std::optional<cta::Role> role = cta::findRole(op); role && role->getAttr().getRegisters())
    return role->getAttr().getRegisters();
  int64_t threads = int64_t(cta::countWarps(op->getParentOfType<KernelOp>())) * target::threadsPerWarp;
  return target::registersOfLoneCta(threads);
}

namespace {

// Marks the absence of a slot; indices of slots are not negative.
constexpr int64_t noNumber = -1;

Value emitNone(OpBuilder &builder, Location loc, Type slot) {
  if (isa<cta::RingSlotType>(slot))
    return cta::RingNoneOp::create(builder, loc);
  return emitI32(builder, loc, noNumber);
}

Value emitHolds(OpBuilder &builder, Location loc, Value slot) {
  if (isa<cta::RingSlotType>(slot.getType()))
    return cta::RingHoldsOp::create(builder, loc, slot);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, slot, emitI32(builder, loc, noNumber));
}

/// Returns the index of a slot that a wgmma of the loop reads; null if it reads none.
Value findSlotNumber(const LoopGraph &graph) {
  for (Operation *op : graph.operations)
    if (auto mma = dyn_cast<cta::WgmmaOp>(op))
      for (Value operand : {Value(mma.getBufferA()), Value(mma.getB())}) {
        while (auto trans = operand ? operand.getDefiningOp<cta::TransBufferOp>() : cta::TransBufferOp())
          operand = trans.getBuffer();
        auto slot = operand ? operand.getDefiningOp<cta::SlotOp>() : cta::SlotOp();
        if (slot && slot->getBlock() == graph.body)
          return slot.getIndex();
      }
  return {};
}

/// Rewrites a loop so that its early operations run one iteration ahead of its late ones.
class LoopRewriter {
public:
  LoopRewriter(const LoopGraph &graph, MmaSchedule schedule)
      : graph(graph), loop(graph.loop), schedule(std::move(schedule)), stages(graph.nodes.size()),
        positions(graph.nodes.size()) {
    for (auto [position, scheduled] : llvm::enumerate(this->schedule)) {
      stages[scheduled.node] = scheduled.stage;
      positions[scheduled.node] = position;
      hasEarly |= scheduled.stage == LoopStage::early;
    }
    findCrossing();
  }

  /// Returns true if threads have enough registers, if conflicting accesses to buffers keep their order, and if rings
  /// have as many slots as are in use at the same time.
  bool isPossible() {
    const target::Tuned &tuned = target::tunedOf(cta::getTarget(loop));
    int64_t most = std::min(tuned.tensorRegistersAhead, countThreadRegisters(loop) - tuned.spareRegistersAhead);
    if (hasEarly && countRegistersOfTensors() > most)
      return false;
    bool areInPlace = llvm::all_of(awaited, [&](cta::AwaitOp await) { return findCarrier(await).has_value(); });
    bool hasKnownOrder = hasEarly || !slots.empty();
    return areInPlace && hasKnownOrder && keepsOrderOfMemory() && hasSlots();
  }

  void run(IRRewriter &rewriter) {
    Location loc = loop.getLoc();
    rewriter.setInsertionPoint(loop);
    LoopRange range(rewriter, loop);
    Value any = range.emitAny();
    auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    SmallVector<Value> unchanged(loop.getInitArgs()), inits(loop.getInitArgs());
    for (unsigned argument : findZeroAccumulators())
      unchanged[argument] = cta::ZerosOp::create(rewriter, loc, cast<RankedTensorType>(inits[argument].getType()));
    scf::YieldOp::create(rewriter, loc, unchanged);
    rewriter.setInsertionPointToStart(branch.thenBlock());
    for (unsigned argument : findZeroAccumulators())
      inits[argument] = cta::UndefinedOp::create(rewriter, loc, cast<RankedTensorType>(inits[argument].getType()));

    LoopRange rounds = hasEarly ? range.emitWithoutFirst() : range;
    if (hasEarly) {
      IRMapping first;
      first.map(loop.getInductionVar(), loop.getLowerBound());
      first.map(loop.getRegionIterArgs(), loop.getInitArgs());
      emit(rewriter, first, first, {LoopStage::early});
      for (auto [init, next] : llvm::zip_equal(inits, loop.getYieldedValues()))
        init = isOfLate(next) ? init : first.lookupOrDefault(next);
      for (Value value : crossing)
        inits.push_back(first.lookup(value));
    }
    for (Value slot : slots)
      inits.push_back(emitNone(rewriter, loc, slot.getType()));
    for (size_t i = 0; i < tokens.size(); ++i)
      inits.push_back(cta::TokenNoneOp::create(rewriter, loc));
    auto ahead = scf::ForOp::create(rewriter, loc, rounds.lower, rounds.upper, rounds.step, inits,
                                    /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
    emitBody(rewriter, ahead);
    foldComparisons(rewriter, ahead);
    rewriter.setInsertionPointAfter(ahead);
    emitLast(rewriter, ahead);
    rewriter.replaceOp(loop, branch.getResults());
  }

private:
  /// Returns true for values that late operations of an iteration produce or yield to the next one.
  bool isOfLate(Value value) const {
    std::optional<unsigned> node = graph.getSource(value);
    return !hasEarly || (node && stages[*node] != LoopStage::early);
  }

  /// Counts the registers of tensors. Late wgmmas are in flight, and read their left operands, while the results of
  /// early ones become the carried values.
  int64_t countRegistersOfTensors() const {
    auto count = [](Value value) -> int64_t {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type ? countRegisters(type) : 0;
    };
    int64_t lateSums = 0, earlySums = 0, crossed = 0;
    for (auto [index, op] : llvm::enumerate(graph.operations))
      if (auto mma = dyn_cast<cta::WgmmaOp>(op))
        (stages[index] == LoopStage::early ? earlySums : lateSums) += count(mma.getResult()) + count(mma.getA());
    for (Value value : crossing)
      crossed += count(value);
    return lateSums + std::max(earlySums, crossed);
  }

  /// Returns true if conflicting accesses to a buffer keep their order, within an iteration and between the two or
  /// three iterations that overlap. Accesses to different slots may be reordered.
  bool keepsOrderOfMemory() const {
    auto time = [&](unsigned node, unsigned iteration) {
      return std::pair(unsigned(stages[node]) + iteration, positions[node]);
    };
    return llvm::all_of(graph.accesses, [&](auto &entry) {
      auto isBefore = [&](unsigned first, unsigned second, unsigned iterations) {
        return time(graph.getEnd(first), 0) < time(second, iterations) ||
               !graph.mayShareSlot(first, second, entry.first, iterations);
      };
      return llvm::all_of(entry.second, [&](unsigned first) {
        return llvm::all_of(entry.second, [&](unsigned second) {
          return (!graph.writesShared(first) && !graph.writesShared(second)) ||
                 ((first >= second || isBefore(first, second, 0)) && isBefore(first, second, 1) &&
                  isBefore(first, second, 2));
        });
      });
    });
  }

  /// Returns true if the rings have enough slots. Slots are taken in order, so either all or none are taken by early
  /// operations; slots that have been taken but not released are in use. A consumer that runs ahead computes for a long
  /// time before it releases a slot, and must leave the producer one to fill meanwhile: with two slots, both in use,
  /// attention's backward pass takes 1.5 times as long.
  bool hasSlots() const {
    int64_t spare = hasEarly ? 1 : 0;
    llvm::MapVector<Value, int64_t> inUse; // at the start of a round
    DenseMap<Value, LoopStage> takes;
    for (auto [index, op] : llvm::enumerate(graph.operations)) {
      LoopStage stage = stages[index];
      if (auto release = dyn_cast<cta::RingReleaseOp>(op))
        inUse[release.getRing()] += int64_t(stage);
      if (auto wait = dyn_cast<cta::RingWaitOp>(op)) {
        inUse[wait.getRing()] -= int64_t(stage);
        if (takes.try_emplace(wait.getRing(), stage).first->second != stage)
          return false;
      }
    }
    for (ScheduledNode scheduled : schedule) {
      Operation *op = graph.operations[scheduled.node];
      if (auto release = dyn_cast<cta::RingReleaseOp>(op))
        --inUse[release.getRing()];
      if (auto wait = dyn_cast<cta::RingWaitOp>(op))
        if (++inUse[wait.getRing()] + spare > wait.getRing().getType().getSlots())
          return false;
    }
    return true;
  }

  /// Finds the values of early operations, and of their arguments, that late operations of the same iteration use.
  /// Views of buffers are recreated instead of carried.
  void findCrossing() {
    SmallVector<Operation *> users;
    for (ScheduledNode scheduled : schedule) {
      Operation *op = graph.operations[scheduled.node];
      if (scheduled.stage != LoopStage::early)
        users.push_back(op);
      if (scheduled.stage != LoopStage::awaited)
        continue;
      if (auto await = dyn_cast<cta::AwaitOp>(op)) {
        awaited.push_back(await);
      } else {
        released.push_back(cast<cta::RingReleaseOp>(op));
        slots.push_back(released.back().getSlot());
      }
      for (Value operand : op->getOperands())
        if (isa<cta::TokenType>(operand.getType()))
          tokens.insert(operand);
    }
    if (Value number = slots.empty() && !hasEarly ? findSlotNumber(graph) : Value())
      slots.push_back(number);
    if (!hasEarly)
      return;
    while (!users.empty()) {
      Operation *user = users.pop_back_val();
      for (Value value : getUsedValues(user)) {
        std::optional<unsigned> node = graph.getNode(value), argument = graph.getArgument(value);
        bool isEarlyResult = node && graph.operations[*node] != user && !isOfLate(value);
        bool isEarlyArgument = argument && !isOfLate(loop.getYieldedValues()[*argument]);
        if (isEarlyResult && isa<cta::BufferType>(value.getType())) {
          if (views.insert(*node).second)
            users.push_back(graph.operations[*node]);
        } else if (isEarlyResult || isEarlyArgument || value == loop.getInductionVar()) {
          crossing.insert(value);
        }
      }
    }
  }

  /// Returns the argument through which the next iteration gets the accumulator; nullopt if there is none, or if the
  /// accumulator has other users.
  std::optional<unsigned> findCarrier(cta::AwaitOp await) {
    auto next = llvm::find(loop.getYieldedValues(), await.getResult());
    if (next == loop.getYieldedValues().end() || !await.getResult().hasOneUse())
      return std::nullopt;
    return std::distance(loop.getYieldedValues().begin(), next);
  }

  /// Returns the accumulator arguments whose first wgmma need not read zeros. A flag makes this wgmma overwrite the
  /// accumulator. Peeling the first round instead would cost compile time, because ptxas takes 0.01 s for each wgmma of
  /// 256 columns. The flag is derived from a slot, because LLVM would peel the round if the flag were carried, or were
  /// a comparison of the induction variable. (LLVM unrolls loops with a few constant steps.)
  SmallVector<unsigned> findZeroAccumulators() {
    SmallVector<unsigned> accumulators;
    for (cta::AwaitOp await : awaited) {
      unsigned carrier = *findCarrier(await);
      Value start = loop.getInitArgs()[carrier];
      bool isZero = matchPattern(start, m_AnyZeroFloat()) || matchPattern(start, m_Zero());
      if (isZero && !hasEarly && !slots.empty())
        accumulators.push_back(carrier);
    }
    return accumulators;
  }

  /// Maps the values that a round, or the last one, yields for late operations.
  IRMapping mapLate(ValueRange carried) {
    IRMapping mapping;
    for (auto [index, next] : llvm::enumerate(loop.getYieldedValues()))
      if (isOfLate(next))
        mapping.map(loop.getRegionIterArg(index), carried[index]);
    for (auto [value, previous] : llvm::zip_equal(crossing, carried.slice(loop.getNumResults(), crossing.size())))
      mapping.map(value, previous);
    return mapping;
  }

  /// Awaits the wgmmas issued by the previous round, and releases the slots that they read. In the first round there
  /// are no such wgmmas (`isLater`, if given, is then false), and `carried` holds the loop's initial values.
  /// Accumulators that wgmmas of this round already accumulate into are replaced by the results of these wgmmas.
  void emitAwaited(IRRewriter &rewriter, ValueRange carried, Value isLater, IRMapping &late) {
    IRMapping before;
    before.map(tokens.getArrayRef(), carried.take_back(tokens.size()));
    Value last; // token
    for (cta::AwaitOp await : awaited) {
      unsigned carrier = *findCarrier(await);
      bool isAddedTo = late.contains(await.getAcc());
      Value accumulator = isAddedTo ? late.lookup(await.getAcc()) : carried[carrier];
      last = before.lookup(await.getToken());
      before.map(await.getAcc(), accumulator);
      // No wait is needed here if another wgmma accumulates onto the result (then nothing else reads the result) and a
      // release waits for the first wgmma anyway.
      bool isReleased = llvm::any_of(released, [&](cta::RingReleaseOp release) {
        return llvm::is_contained(release.getTokens(), await.getToken());
      });
      if (!isAddedTo || !isReleased)
        accumulator = rewriter.clone(*await, before)->getResult(0);
      late.map(isAddedTo ? await.getAcc() : Value(loop.getRegionIterArg(carrier)), accumulator);
    }
    // The inputs of left operands pass through the wait as well; otherwise LLVM would compute the operands before it.
    // Inputs narrower than 32 bits take few registers, and do not need this.
    for (unsigned index = 0; hasEarly && last && index < graph.nodes.size(); ++index)
      if (std::optional<unsigned> operand = graph.nodes[index].leftOperand;
          operand && isOfLate(graph.operations[*operand]->getResult(0)))
        for (Value value : getUsedValues(graph.operations[*operand]))
          if (crossing.contains(value) && isa<RankedTensorType>(value.getType()) &&
              getElementTypeOf(value.getType()).getIntOrFloatBitWidth() == 32)
            late.map(value, cta::AwaitOp::create(rewriter, loop.getLoc(), late.lookup(value), last,
                                                 /*columns=*/IntegerAttr()));
    ValueRange previous = carried.drop_back(tokens.size()).take_back(slots.size());
    // After a loop that is not peeled, there has been a previous iteration.
    bool mayBeFirst = hasEarly || isLater;
    for (auto [release, slot] : llvm::zip(released, previous)) {
      Value condition = mayBeFirst && !isLater ? emitHolds(rewriter, release.getLoc(), slot) : isLater;
      auto clone = cast<cta::RingReleaseOp>(rewriter.clone(*release, before));
      clone.getSlotMutable().assign(slot);
      if (condition)
        clone.getConditionMutable().assign(condition);
      else // debug location of the loop, not of an iteration
        clone->setLoc(loop.getLoc());
    }
  }

  void emitBody(IRRewriter &rewriter, scf::ForOp ahead) {
    rewriter.setInsertionPointToStart(ahead.getBody());
    IRMapping early, late = mapLate(ahead.getRegionIterArgs());
    (hasEarly ? early : late).map(loop.getInductionVar(), ahead.getInductionVar());
    for (auto [index, next] : llvm::enumerate(loop.getYieldedValues()))
      if (!isOfLate(next))
        early.map(loop.getRegionIterArg(index), ahead.getRegionIterArg(index));
    emit(rewriter, early, late, {LoopStage::early, LoopStage::late, LoopStage::awaited}, ahead.getRegionIterArgs());
    SmallVector<Value> yields;
    for (Value next : loop.getYieldedValues()) {
      auto await = next.getDefiningOp<cta::AwaitOp>();
      bool isInFlight = await && llvm::is_contained(awaited, await);
      yields.push_back(isInFlight       ? late.lookup(await.getAcc())
                       : isOfLate(next) ? late.lookupOrDefault(next)
                                        : early.lookupOrDefault(next));
    }
    for (Value value : crossing)
      yields.push_back(early.lookup(value));
    for (Value slot : slots)
      yields.push_back(late.lookupOrDefault(slot));
    for (Value token : tokens)
      yields.push_back(late.lookupOrDefault(token));
    scf::YieldOp::create(rewriter, loop.getLoc(), yields);
  }

  void emitLast(IRRewriter &rewriter, scf::ForOp ahead) {
    ValueRange carried = ahead.getResults();
    IRMapping last = mapLate(carried);
    emitAwaited(rewriter, carried, Value(), last);
    if (hasEarly)
      emit(rewriter, last, last, {LoopStage::late, LoopStage::awaited});
    SmallVector<Value> results;
    for (auto [index, next] : llvm::enumerate(loop.getYieldedValues())) {
      Value ofLate = hasEarly ? last.lookupOrDefault(next) : last.lookup(loop.getRegionIterArg(index));
      results.push_back(isOfLate(next) ? ofLate : carried[index]);
    }
    scf::YieldOp::create(rewriter, loop.getLoc(), results);
  }

  /// Emits the operations of the wanted stages. If `carried` is given, it holds results of the previous round, and
  /// waits are for the operations of that round and are emitted at their positions in the schedule. Otherwise the waits
  /// are for operations of this iteration and come last.
  void emit(IRRewriter &rewriter, IRMapping &early, IRMapping &late, std::initializer_list<LoopStage> wanted,
            std::optional<ValueRange> carried = std::nullopt) {
    SmallVector<ScheduledNode> sequence;
    auto isWanted = [&](ScheduledNode scheduled) { return llvm::is_contained(wanted, scheduled.stage); };
    auto isAwaited = [](ScheduledNode scheduled) { return scheduled.stage == LoopStage::awaited; };
    llvm::copy_if(schedule, std::back_inserter(sequence), isWanted);
    if (!carried)
      std::stable_partition(sequence.begin(), sequence.end(), std::not_fn(isAwaited));
    Value isLater; // whether there has been a previous round, according to the first slot that it yields
    if (carried && !hasEarly && !slots.empty())
      isLater = emitHolds(rewriter, loop.getLoc(), carried->drop_back(tokens.size()).take_back(slots.size()).front());
    SmallVector<unsigned> zeroAccumulators = findZeroAccumulators();
    bool hasViews = false, hasAwaited = false;
    for (ScheduledNode scheduled : sequence) {
      if (carried && isAwaited(scheduled)) {
        if (!std::exchange(hasAwaited, true))
          emitAwaited(rewriter, *carried, isLater, late);
        continue;
      }
      bool isLate = scheduled.stage != LoopStage::early;
      if (isLate && !std::exchange(hasViews, true))
        for (unsigned view : views)
          rewriter.clone(*graph.operations[view], late);
      Operation *op = graph.operations[scheduled.node], *clone = rewriter.clone(*op, isLate ? late : early);
      if (auto release = dyn_cast<cta::RingReleaseOp>(clone))
        avoidBranch(release);
      if (auto mma = dyn_cast<cta::WgmmaOp>(op))
        if (std::optional<unsigned> accumulator = graph.getArgument(mma.getAcc());
            accumulator && llvm::is_contained(zeroAccumulators, *accumulator))
          cast<cta::WgmmaOp>(clone).getAccumulateMutable().assign(isLater);
    }
  }

  const LoopGraph &graph;
  scf::ForOp loop;
  MmaSchedule schedule;
  SmallVector<LoopStage> stages; ///< The stage of each node.
  SmallVector<size_t> positions; ///< The position of each node in a round.
  bool hasEarly = false;
  SmallVector<cta::AwaitOp> awaited;
  SmallVector<cta::RingReleaseOp> released; ///< Operations whose slots are released in the following round.
  /// The slots that `released` releases. If `released` is empty: one element, the index of a slot that a wgmma reads.
  SmallVector<Value> slots;
  SetVector<Value> tokens; ///< The tokens that are operands of `awaited` and `released`.
  SetVector<Value> crossing;
  std::set<unsigned> views; ///< Early operations that late ones also use.
};

} // namespace

bool tile::mayRunAhead(const LoopGraph &graph, const MmaSchedule &schedule) {
  return LoopRewriter(graph, schedule).isPossible();
}

void tile::runAhead(IRRewriter &rewriter, const LoopGraph &graph, const MmaSchedule &schedule) {
  LoopRewriter(graph, schedule).run(rewriter);
}
