// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Software pipelining of loops; see ExpandPipeline.h.
#include "Transforms/Cta/ExpandPipeline.h"

#include "Analysis/Loops/LoopGraph.h"
#include "Analysis/Loops/LoopRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

namespace {

/// A value that is used in a later round than the one that produces it. Loop arguments are treated as produced in the
/// previous iteration.
struct Carried {
  unsigned stage;                ///< The stage that produces it.
  unsigned rounds;               ///< The rounds from its production to its last use.
  SmallVector<unsigned> indices; ///< The new loop's arguments that hold it one round later, two rounds later, …
};

class PipelineExpander {
public:
  PipelineExpander(RewriterBase &rewriter, scf::ForOp loop, const LoopSchedule &schedule, PredicateOp predicate)
      : rewriter(rewriter), loop(loop), schedule(schedule), predicate(predicate), loc(loop.getLoc()) {
    for (auto [op, stage] : schedule) {
      stages[op] = stage;
      last = std::max(last, stage);
    }
  }

  scf::ForOp run() {
    rewriter.setInsertionPoint(loop);
    LoopRange range(rewriter, loop);
    for (unsigned distance = 0; distance <= last; ++distance)
      limits.push_back(range.emitLimit(distance));
    findCarried();
    emitFirstRounds(range);
    auto rounds = scf::ForOp::create(rewriter, loc, range.lower, range.upper, range.step, collectInits(),
                                     /*bodyBuilder=*/nullptr, range.isUnsigned);
    if (!rounds.getBody()->empty())
      rewriter.eraseOp(rounds.getBody()->getTerminator());
    emitRound(rounds);
    SmallVector<Value> results;
    for (BlockArgument argument : loop.getRegionIterArgs())
      results.push_back(rounds.getResult(kept.contains(argument) ? kept[argument] : carried[argument].indices.front()));
    rewriter.replaceOp(loop, results);
    return rounds;
  }

private:
  Value getYielded(Value argument) { return loop.getYieldedValues()[cast<BlockArgument>(argument).getArgNumber() - 1]; }

  bool isArgument(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == loop.getBody() && argument != loop.getInductionVar();
  }

  /// Returns how many rounds the operand `value` is older than its user, an operation of `stage`; negative if the value
  /// is not carried.
  int getAge(Value value, unsigned stage) {
    Operation *op = isArgument(value) ? getYielded(value).getDefiningOp() : value.getDefiningOp();
    auto found = stages.find(op);
    return found == stages.end() ? -1 : int(stage) - int(found->second) + int(isArgument(value));
  }

  void findCarried() {
    for (BlockArgument argument : loop.getRegionIterArgs())
      carried.insert({argument, {stages.lookup(getYielded(argument).getDefiningOp()), 1, {}}});
    for (auto [op, stage] : schedule)
      for (Value value : getUsedValues(op)) {
        int age = getAge(value, stage);
        if (age <= 0)
          continue;
        Carried &entry = carried.insert({value, {stage - unsigned(age), 0, {}}}).first->second;
        entry.rounds = std::max(entry.rounds, unsigned(age));
      }
    // The results of the new loop begin with those of the old one.
    unsigned next = 0;
    for (auto &[value, entry] : carried)
      entry.indices.push_back(next++);
    for (auto &[value, entry] : carried)
      while (entry.indices.size() < entry.rounds)
        entry.indices.push_back(next++);
    // An earlier stage may yield values of iterations that do not exist, so the value of the last existing iteration is
    // kept separately.
    for (BlockArgument argument : loop.getRegionIterArgs())
      if (carried[argument].stage < last && !loop.getTiedLoopResult(argument).use_empty())
        kept[argument] = next++;
    numCarried = next;
  }

  /// Emits the condition that the loop has an iteration with this index; returns null if that is known.
  Value emitExists(LoopRange &range, unsigned iteration) {
    if (std::optional<APInt> count = countIterations(loop); count && count->ugt(iteration))
      return {};
    return range.emitLess(range.lower, limits[iteration]);
  }

  Operation *emit(Operation *op, IRMapping &mapping, Value condition) {
    Operation *clone = rewriter.clone(*op, mapping);
    OpBuilder::InsertionGuard guard(rewriter);
    if (condition)
      predicate(rewriter, clone, condition);
    return clone;
  }

  Value emitKept(Value condition, Value now, Value before) {
    return condition ? arith::SelectOp::create(rewriter, loc, condition, now, before).getResult() : now;
  }

  void emitFirstRounds(LoopRange &range) {
    iterations.resize(last + 1);
    iterations.front().map(loop.getRegionIterArgs(), loop.getInitArgs());
    for (auto [argument, index] : kept)
      keptInits[argument] = loop.getTiedLoopInit(cast<BlockArgument>(argument))->get();
    SmallVector<Value> exists;
    for (unsigned iteration = 0; iteration < last; ++iteration) {
      Value variable = iteration == 0 ? range.lower : range.emitVariable(range.constant(iteration));
      iterations[iteration].map(loop.getInductionVar(), variable);
      exists.push_back(emitExists(range, iteration));
    }
    for (unsigned round = 0; round < last; ++round)
      for (auto [op, stage] : schedule) {
        if (stage > round)
          continue;
        unsigned iteration = round - stage;
        emit(op, iterations[iteration], exists[iteration]);
        for (BlockArgument argument : loop.getRegionIterArgs()) {
          if (getYielded(argument).getDefiningOp() != op)
            continue;
          Value next = iterations[iteration].lookup(getYielded(argument));
          iterations[iteration + 1].map(argument, next);
          if (kept.contains(argument))
            keptInits[argument] = emitKept(exists[iteration], next, keptInits[argument]);
        }
      }
    llvm::for_each(exists, [&](Value condition) { eraseIfUnused(condition); });
  }

  void eraseIfUnused(Value condition) {
    Operation *op = condition ? condition.getDefiningOp() : nullptr;
    if (op && op->use_empty())
      rewriter.eraseOp(op);
  }

  SmallVector<Value> collectInits() {
    SmallVector<Value> inits(numCarried);
    for (auto &[value, entry] : carried)
      for (auto [rounds, index] : llvm::enumerate(entry.indices)) {
        // The value was produced `rounds` + 1 rounds before the first round of the loop.
        unsigned iteration = last - 1 - rounds - entry.stage + unsigned(isArgument(value));
        inits[index] = iterations[iteration].lookup(value);
      }
    for (auto [argument, index] : kept)
      inits[index] = keptInits[argument];
    return inits;
  }

  /// Maps each stage to its induction variable and to the values that earlier rounds produced.
  SmallVector<IRMapping> mapStages(scf::ForOp rounds) {
    SmallVector<IRMapping> views(last + 1);
    LoopRange range(rewriter, loop);
    for (unsigned stage = 0; stage <= last; ++stage) {
      bool usesVariable = llvm::any_of(schedule, [&](auto &entry) {
        return entry.second == stage && getUsedValues(entry.first).contains(loop.getInductionVar());
      });
      Value variable = rounds.getInductionVar();
      if (usesVariable && stage != last) {
        Value distance = rewriter.createOrFold<arith::MulIOp>(loc, range.step, range.constant(last - stage));
        variable = rewriter.createOrFold<arith::AddIOp>(loc, variable, distance);
      }
      views[stage].map(loop.getInductionVar(), variable);
      for (auto &[value, entry] : carried)
        if (int age = getAge(value, stage); age > 0 && age <= int(entry.indices.size()))
          views[stage].map(value, rounds.getRegionIterArg(entry.indices[age - 1]));
    }
    return views;
  }

  void emitRound(scf::ForOp rounds) {
    rewriter.setInsertionPointToStart(rounds.getBody());
    SmallVector<IRMapping> views = mapStages(rounds);
    LoopRange range(rewriter, loop);
    SmallVector<Value> exists;
    for (unsigned stage = 0; stage < last; ++stage)
      exists.push_back(range.emitLess(rounds.getInductionVar(), limits[last - stage]));
    exists.push_back({});
    for (auto [op, stage] : schedule) {
      emit(op, views[stage], exists[stage]);
      for (BlockArgument argument : loop.getRegionIterArgs())
        if (stage > 0 && getYielded(argument).getDefiningOp() == op)
          views[stage - 1].map(argument, views[stage].lookup(getYielded(argument)));
    }
    SmallVector<Value> yields(numCarried);
    for (auto &[value, entry] : carried)
      for (auto [index, position] : llvm::enumerate(entry.indices)) {
        Value made = isArgument(value) ? getYielded(value) : value;
        yields[position] =
            index == 0 ? views[entry.stage].lookup(made) : rounds.getRegionIterArg(entry.indices[index - 1]);
      }
    for (auto [argument, index] : kept) {
      unsigned stage = carried[argument].stage;
      yields[index] =
          emitKept(exists[stage], views[stage].lookup(getYielded(argument)), rounds.getRegionIterArg(index));
    }
    llvm::for_each(exists, [&](Value condition) { eraseIfUnused(condition); });
    rewriter.setInsertionPointToEnd(rounds.getBody());
    scf::YieldOp::create(rewriter, loc, yields);
  }

  RewriterBase &rewriter;
  scf::ForOp loop;
  const LoopSchedule &schedule;
  PredicateOp predicate;
  Location loc;
  DenseMap<Operation *, unsigned> stages;
  unsigned last = 0;
  SmallVector<Value> limits; ///< limits[n]: an iteration whose variable is below it is followed by at least n more.
  llvm::MapVector<Value, Carried> carried;
  /// Arguments whose value of the last existing iteration is carried as well, each with the index of that value.
  llvm::MapVector<Value, unsigned> kept;
  DenseMap<Value, Value> keptInits;
  unsigned numCarried = 0;
  SmallVector<IRMapping> iterations; ///< Values produced by iterations that begin before the loop.
};

} // namespace

scf::ForOp tile::expandPipeline(RewriterBase &rewriter, scf::ForOp loop, const LoopSchedule &schedule,
                                PredicateOp predicate) {
  return PipelineExpander(rewriter, loop, schedule, predicate).run();
}
