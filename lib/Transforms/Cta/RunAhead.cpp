// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Early operations of a loop an iteration ahead; see RunAhead.h.
#include "Transforms/Cta/RunAhead.h"

#include "Analysis/RolePlan.h"
#include "Cta/CtaDialect.h"
#include "Target/GpuTarget.h"
#include "Transforms/Cta/PeelLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

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

namespace {

/// Registers of a thread that tensors may take.
int64_t countFreeRegisters(scf::ForOp loop) {
  constexpr int64_t most = 255;
  auto kernel = loop->getParentOfType<KernelOp>();
  int64_t threads = int64_t(kernel.getNumWarps() + kernel.getProducerWarps()) * target::threadsPerWarp;
  int64_t registers = std::min<int64_t>(most, target::registersPerSm / threads);
  if (auto roles = loop->getParentOfType<cta::WarpRolesOp>(); roles && roles.getConsumerRegisters())
    registers = *roles.getConsumerRegisters();
  return registers - registersBesideTensors;
}

/// Emits early and late operations of a loop at different times.
class LoopRewriter {
public:
  LoopRewriter(const LoopGraph &graph, ProductSchedule schedule)
      : graph(graph), loop(graph.loop), schedule(std::move(schedule)), stages(graph.nodes.size()) {
    for (ScheduledNode scheduled : this->schedule)
      stages[scheduled.node] = scheduled.stage;
    findCrossing();
  }

  /// Whether threads have the registers, and each side its own buffers and at least a slot of each ring.
  bool isPossible() {
    // With 162 attention of 128 columns spills in its loop, and takes 1.1 times as long as one product after another.
    constexpr int64_t most = 160;
    if (countRegistersOfTensors() > std::min(most, countFreeRegisters(loop)))
      return false;
    for (cta::AwaitOp await : awaited)
      if (!findCarrier(await))
        return false;
    for (auto &[buffer, indices] : graph.accesses)
      if (!areTogether(indices) && llvm::any_of(indices, [&](unsigned index) { return graph.writesShared(index); }))
        return false;
    // Slots are taken in order; and of two stages one takes the next slot before the other releases this one.
    DenseMap<Value, SmallVector<unsigned>> waits, users; // of rings
    for (auto [index, op] : llvm::enumerate(graph.operations)) {
      if (auto release = dyn_cast<cta::RingReleaseOp>(op))
        users[release.getRing()].push_back(index);
      if (auto wait = dyn_cast<cta::RingWaitOp>(op)) {
        waits[wait.getRing()].push_back(index);
        users[wait.getRing()].push_back(index);
      }
    }
    return llvm::all_of(waits, [&](auto &entry) { return areTogether(entry.second); }) &&
           llvm::all_of(users, [&](auto &entry) {
             return cast<cta::RingType>(entry.first.getType()).getSlots() > 1 || areTogether(entry.second);
           });
  }

  void run(IRRewriter &rewriter) {
    Location loc = loop.getLoc();
    rewriter.setInsertionPoint(loop);
    auto less = loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
    Value any = arith::CmpIOp::create(rewriter, loc, less, loop.getLowerBound(), loop.getUpperBound());
    auto branch = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), any, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(rewriter, loc, loop.getInitArgs());
    rewriter.setInsertionPointToStart(branch.thenBlock());

    IRMapping first;
    first.map(loop.getInductionVar(), loop.getLowerBound());
    first.map(loop.getRegionIterArgs(), loop.getInitArgs());
    emit(rewriter, first, first, {LoopStage::early});

    SmallVector<Value> inits;
    for (auto [init, next] : llvm::zip_equal(loop.getInitArgs(), loop.getYieldedValues()))
      inits.push_back(isOfLate(next) ? init : first.lookupOrDefault(next));
    for (Value value : crossing)
      inits.push_back(first.lookup(value));
    for (size_t i = 0; i < released.size(); ++i)
      inits.push_back(cta::RingNoneOp::create(rewriter, loc));
    for (size_t i = 0; i < tokens.size(); ++i)
      inits.push_back(cta::TokenNoneOp::create(rewriter, loc));
    Value lower = rewriter.createOrFold<arith::AddIOp>(loc, loop.getLowerBound(), loop.getStep());
    auto ahead = scf::ForOp::create(rewriter, loc, lower, loop.getUpperBound(), loop.getStep(), inits,
                                    /*bodyBuilder=*/nullptr, loop.getUnsignedCmp());
    emitBody(rewriter, ahead);
    foldComparisons(rewriter, ahead);
    rewriter.setInsertionPointAfter(ahead);
    IRMapping last = mapLate(ahead.getResults());
    emitAwaited(rewriter, ahead.getResults(), last);
    emit(rewriter, last, last, {LoopStage::late, LoopStage::awaited});
    SmallVector<Value> results;
    for (auto [index, next] : llvm::enumerate(loop.getYieldedValues()))
      results.push_back(isOfLate(next) ? last.lookup(next) : ahead.getResult(index));
    scf::YieldOp::create(rewriter, loc, results);
    rewriter.replaceOp(loop, branch.getResults());
  }

private:
  bool isOfLate(Value value) const {
    std::optional<unsigned> node = graph.getNode(value);
    return node && stages[*node] != LoopStage::early;
  }

  /// Late products are in flight, and read their left operands, while early ones' sums become what crosses.
  int64_t countRegistersOfTensors() const {
    auto count = [](Value value) -> int64_t {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      return type ? countRegisters(type) : 0;
    };
    int64_t lateSums = 0, earlySums = 0, crossed = 0;
    for (auto [index, op] : llvm::enumerate(graph.operations))
      if (auto product = dyn_cast<cta::WgmmaOp>(op))
        (stages[index] == LoopStage::early ? earlySums : lateSums) +=
            count(product.getResult()) + count(product.getA());
    for (Value value : crossing)
      crossed += count(value);
    return lateSums + std::max(earlySums, crossed);
  }

  bool areTogether(ArrayRef<unsigned> indices) const {
    return llvm::all_of(indices, [&](unsigned index) {
      return (stages[index] == LoopStage::early) == (stages[indices.front()] == LoopStage::early);
    });
  }

  /// What late operations use of early ones of their iteration, and of the early ones' arguments. Views of buffers are
  /// not carried but made again.
  void findCrossing() {
    SmallVector<Operation *> users;
    for (ScheduledNode scheduled : schedule) {
      Operation *op = graph.operations[scheduled.node];
      if (scheduled.stage != LoopStage::early)
        users.push_back(op);
      if (scheduled.stage != LoopStage::awaited)
        continue;
      if (auto await = dyn_cast<cta::AwaitOp>(op))
        awaited.push_back(await);
      else
        released.push_back(cast<cta::RingReleaseOp>(op));
      for (Value operand : op->getOperands())
        if (isa<cta::TokenType>(operand.getType()))
          tokens.insert(operand);
    }
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

  /// The argument through which the next iteration gets the product; none if there is none, or others use it.
  std::optional<unsigned> findCarrier(cta::AwaitOp await) {
    auto next = llvm::find(loop.getYieldedValues(), await.getResult());
    if (next == loop.getYieldedValues().end() || !await.getResult().hasOneUse())
      return std::nullopt;
    return std::distance(loop.getYieldedValues().begin(), next);
  }

  /// Late operations' view of what a round hands on, or the last one.
  IRMapping mapLate(ValueRange carried) {
    IRMapping mapping;
    for (auto [index, next] : llvm::enumerate(loop.getYieldedValues()))
      if (isOfLate(next))
        mapping.map(loop.getRegionIterArg(index), carried[index]);
    for (auto [value, previous] : llvm::zip_equal(crossing, carried.slice(loop.getNumResults(), crossing.size())))
      mapping.map(value, previous);
    return mapping;
  }

  /// Awaits the products that the round before has issued, and releases what they have read. In the first round there
  /// are none, and what is carried is what the loop begins with.
  void emitAwaited(IRRewriter &rewriter, ValueRange carried, IRMapping &late) {
    IRMapping before;
    before.map(tokens.getArrayRef(), carried.take_back(tokens.size()));
    Value last; // of the tokens
    for (cta::AwaitOp await : awaited) {
      unsigned carrier = *findCarrier(await);
      before.map(await.getAcc(), carried[carrier]);
      late.map(loop.getRegionIterArg(carrier), rewriter.clone(*await, before)->getResult(0));
      last = before.lookup(await.getToken());
    }
    // What left operands are made of is read behind these products, too: else LLVM would make them before.
    for (unsigned index = 0; last && index < graph.nodes.size(); ++index)
      if (std::optional<unsigned> operand = graph.nodes[index].leftOperand;
          operand && isOfLate(graph.operations[*operand]->getResult(0)))
        for (Value value : getUsedValues(graph.operations[*operand]))
          if (crossing.contains(value) && isa<RankedTensorType>(value.getType()))
            late.map(value, cta::AwaitOp::create(rewriter, loop.getLoc(), late.lookup(value), last,
                                                 /*columns=*/IntegerAttr()));
    ValueRange slots = carried.drop_back(tokens.size()).take_back(released.size());
    for (auto [release, slot] : llvm::zip_equal(released, slots)) {
      Value isLater = cta::RingHoldsOp::create(rewriter, release.getLoc(), slot);
      auto clone = cast<cta::RingReleaseOp>(rewriter.clone(*release, before));
      clone.getSlotMutable().assign(slot);
      clone.getConditionMutable().assign(isLater);
    }
  }

  void emitBody(IRRewriter &rewriter, scf::ForOp ahead) {
    rewriter.setInsertionPointToStart(ahead.getBody());
    IRMapping early, late = mapLate(ahead.getRegionIterArgs());
    emitAwaited(rewriter, ahead.getRegionIterArgs(), late);
    early.map(loop.getInductionVar(), ahead.getInductionVar());
    for (auto [index, next] : llvm::enumerate(loop.getYieldedValues()))
      if (!isOfLate(next))
        early.map(loop.getRegionIterArg(index), ahead.getRegionIterArg(index));
    emit(rewriter, early, late, {LoopStage::early, LoopStage::late});
    SmallVector<Value> yields;
    for (Value next : loop.getYieldedValues()) {
      auto await = next.getDefiningOp<cta::AwaitOp>();
      bool isInFlight = await && llvm::is_contained(awaited, await);
      yields.push_back(isInFlight       ? late.lookup(await.getAcc())
                       : isOfLate(next) ? late.lookup(next)
                                        : early.lookupOrDefault(next));
    }
    for (Value value : crossing)
      yields.push_back(early.lookup(value));
    for (cta::RingReleaseOp release : released)
      yields.push_back(late.lookupOrDefault(release.getSlot()));
    for (Value token : tokens)
      yields.push_back(late.lookupOrDefault(token));
    scf::YieldOp::create(rewriter, loop.getLoc(), yields);
  }

  void emit(IRRewriter &rewriter, IRMapping &early, IRMapping &late, std::initializer_list<LoopStage> wanted) {
    SmallVector<ScheduledNode> sequence;
    // What is awaited in its own round comes last.
    auto isWanted = [&](ScheduledNode scheduled) { return llvm::is_contained(wanted, scheduled.stage); };
    auto isAwaited = [](ScheduledNode scheduled) { return scheduled.stage == LoopStage::awaited; };
    llvm::copy_if(schedule, std::back_inserter(sequence), isWanted);
    std::stable_partition(sequence.begin(), sequence.end(), std::not_fn(isAwaited));
    bool hasViews = false;
    for (ScheduledNode scheduled : sequence) {
      bool isLate = scheduled.stage != LoopStage::early;
      if (isLate && !std::exchange(hasViews, true))
        for (unsigned view : views)
          rewriter.clone(*graph.operations[view], late);
      Operation *clone = rewriter.clone(*graph.operations[scheduled.node], isLate ? late : early);
      if (auto release = dyn_cast<cta::RingReleaseOp>(clone))
        avoidBranch(release);
    }
  }

  const LoopGraph &graph;
  scf::ForOp loop;
  ProductSchedule schedule;
  SmallVector<LoopStage> stages; ///< Of each node.
  SmallVector<cta::AwaitOp> awaited;
  SmallVector<cta::RingReleaseOp> released; ///< In the round after.
  SetVector<Value> tokens;                  ///< That these two name.
  SetVector<Value> crossing;
  std::set<unsigned> views; ///< Early ones that late operations use, too.
};

} // namespace

bool tile::runAhead(IRRewriter &rewriter, const LoopGraph &graph, const std::optional<ProductSchedule> &schedule) {
  if (!schedule)
    return false;
  LoopRewriter emitter(graph, *schedule);
  if (!emitter.isPossible())
    return false;
  emitter.run(rewriter);
  return true;
}
