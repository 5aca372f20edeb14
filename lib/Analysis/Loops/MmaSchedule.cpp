// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Computes the order of a loop's nodes; see MmaSchedule.h.
#include "Analysis/Loops/MmaSchedule.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using llvm::ArrayRef;
using llvm::BitVector;
using namespace tile;

namespace {

bool isMma(const LoopNode &node) {
  return node.kind == LoopNodeKind::mma;
}

/// Returns the MMAs that depend, directly or indirectly, on the result of an earlier MMA.
BitVector findChained(ArrayRef<LoopNode> nodes) {
  BitVector afterMma(nodes.size()), chained(nodes.size());
  for (auto [index, node] : llvm::enumerate(nodes)) {
    bool isAfter = llvm::any_of(node.needs, [&](unsigned need) { return isMma(nodes[need]) || afterMma[need]; });
    afterMma[index] = isAfter;
    chained[index] = isAfter && isMma(node);
  }
  return chained;
}

/// Adds the nodes that depend on a node of the set, in any iteration.
void addUsers(ArrayRef<LoopNode> nodes, BitVector &set) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [index, node] : llvm::enumerate(nodes)) {
      auto isIn = [&](unsigned need) { return set[need]; };
      if (!set[index] && (llvm::any_of(node.needs, isIn) || llvm::any_of(node.needsPrevious, isIn))) {
        set.set(index);
        changed = true;
      }
    }
  }
}

/// Adds light nodes that are needed only by nodes of the set.
void addLight(ArrayRef<LoopNode> nodes, BitVector &set) {
  BitVector joins(nodes.size());
  for (auto [index, node] : llvm::enumerate(nodes))
    joins[index] = node.kind == LoopNodeKind::light;
  for (bool changed = true; changed;) {
    changed = false;
    BitVector isUsed(nodes.size());
    for (auto [index, node] : llvm::enumerate(nodes)) {
      bool isIn = set[index] || joins[index];
      for (unsigned need : concat<const unsigned>(node.needs, node.needsPrevious)) {
        isUsed.set(need);
        changed |= !isIn && joins[need];
        if (!isIn)
          joins.reset(need);
      }
    }
    changed |= joins.test(isUsed);
    joins &= isUsed;
  }
  set |= joins;
}

/// Returns `roots` and the nodes of the same iteration on which they depend.
BitVector findSlice(ArrayRef<LoopNode> nodes, BitVector roots) {
  for (unsigned index = nodes.size(); index-- > 0;)
    if (roots[index])
      for (unsigned need : nodes[index].needs)
        roots.set(need);
  return roots;
}

BitVector select(ArrayRef<LoopNode> nodes, llvm::function_ref<bool(unsigned)> condition) {
  BitVector set(nodes.size());
  for (unsigned index = 0; index < nodes.size(); ++index)
    set[index] = condition(index);
  return set;
}

} // namespace

namespace {

/// Early and late nodes, and the MMAs among them.
struct Split {
  BitVector early, late, earlyMmas, lateMmas;
};

/// Returns nullopt if no MMA is chained to another, or if no MMA is early.
std::optional<Split> splitNodes(ArrayRef<LoopNode> nodes) {
  Split split;
  split.late = findChained(nodes);
  if (split.late.none() || llvm::any_of(nodes, [](const LoopNode &node) { return node.kind == LoopNodeKind::order; }))
    return std::nullopt;
  addUsers(nodes, split.late);
  addLight(nodes, split.late);
  split.early = split.late;
  split.early.flip();
  auto mmas = [&](const BitVector &set) {
    return select(nodes, [&](unsigned index) { return isMma(nodes[index]) && set[index]; });
  };
  split.earlyMmas = mmas(split.early);
  split.lateMmas = mmas(split.late);
  return split.earlyMmas.none() ? std::nullopt : std::optional(split);
}

/// Returns the awaits of late MMAs and the nodes that depend on them in the same iteration.
BitVector findAwaited(ArrayRef<LoopNode> nodes, const BitVector &lateMmas) {
  BitVector awaited = select(nodes, [&](unsigned index) {
    auto isIn = [&](unsigned need) { return lateMmas[need]; };
    return nodes[index].kind == LoopNodeKind::await && llvm::any_of(nodes[index].needs, isIn);
  });
  for (unsigned index = 0; index < nodes.size(); ++index)
    if (llvm::any_of(nodes[index].needs, [&](unsigned need) { return awaited[need]; }))
      awaited.set(index);
  return awaited;
}

/// Builds a schedule by appending sets of nodes.
class ScheduleBuilder {
public:
  ScheduleBuilder(ArrayRef<LoopNode> nodes, const Split &split, const BitVector &awaited)
      : nodes(nodes), split(split), awaited(awaited), done(nodes.size()) {}

  void add(const BitVector &set) {
    for (unsigned index : set.set_bits())
      if (!done[index]) {
        LoopStage stage = awaited[index] ? LoopStage::awaited : split.late[index] ? LoopStage::late : LoopStage::early;
        schedule.push_back({index, stage});
        done.set(index);
      }
  }
  void addLateMmas() {
    BitVector issue = findSlice(nodes, split.lateMmas);
    issue &= split.late;
    add(issue);
  }
  /// Adds the early MMAs, and early loads whose addresses do not depend on them.
  void addEarlyMmas() {
    // Early nodes do not depend on late nodes, so the slices of early MMAs contain only early nodes.
    add(findSlice(nodes, split.earlyMmas));
    BitVector loads = findSlice(nodes, select(nodes, [&](unsigned index) {
                                  return nodes[index].kind == LoopNodeKind::load && split.early[index];
                                }));
    // Loads that depend on these MMAs would have to wait for them, so loads are added only if none does.
    BitVector afterMmas = split.earlyMmas;
    addUsers(nodes, afterMmas);
    if (!loads.anyCommon(afterMmas))
      add(loads);
  }
  MmaSchedule schedule;

private:
  ArrayRef<LoopNode> nodes;
  const Split &split;
  const BitVector &awaited;
  BitVector done;
};

} // namespace

std::optional<MmaSchedule> tile::planInFlight(ArrayRef<LoopNode> nodes) {
  BitVector mmas = select(nodes, [&](unsigned index) { return isMma(nodes[index]); });
  if (llvm::any_of(mmas.set_bits(), [&](unsigned index) { return !nodes[index].accumulates; }))
    return std::nullopt;
  auto needsOf = [&](unsigned index, const BitVector &set) {
    return llvm::any_of(nodes[index].needs, [&](unsigned need) { return set[need]; });
  };
  BitVector awaits =
      select(nodes, [&](unsigned index) { return nodes[index].kind == LoopNodeKind::await && needsOf(index, mmas); });
  BitVector users = select(nodes, [&](unsigned index) { return needsOf(index, awaits); });
  BitVector awaited = awaits;
  for (unsigned index : users.set_bits()) {
    if (nodes[index].kind == LoopNodeKind::release)
      awaited.set(index);
    else if (nodes[index].kind != LoopNodeKind::order) // an order node stays after the MMAs that precede it
      return std::nullopt;
  }
  // Registers of left operands must not be overwritten before the MMAs that read them are complete.
  unsigned place = awaits.find_last();
  for (unsigned index : mmas.set_bits())
    place = std::min(place, nodes[index].leftOperand.value_or(place));
  MmaSchedule schedule;
  for (unsigned index = 0; index < nodes.size(); ++index) {
    if (index == place)
      for (unsigned node : awaited.set_bits())
        schedule.push_back({node, LoopStage::awaited});
    if (!awaited[index])
      schedule.push_back({index, LoopStage::late});
  }
  return schedule;
}

std::optional<MmaSchedule> tile::planAhead(ArrayRef<LoopNode> nodes, const AheadOrder &choice) {
  std::optional<Split> split = splitNodes(nodes);
  if (!split)
    return std::nullopt;
  BitVector awaited(nodes.size());
  if (choice.awaitsNext)
    awaited = findAwaited(nodes, split->lateMmas);
  bool isReleased = llvm::all_of(awaited.set_bits(), [&](unsigned index) {
    return nodes[index].kind == LoopNodeKind::await || nodes[index].kind == LoopNodeKind::release;
  });
  BitVector operands(nodes.size());
  if (choice.operandsLate)
    operands = select(nodes, [&](unsigned index) {
      return split->early[index] &&
             llvm::any_of(nodes, [&](const LoopNode &node) { return node.leftOperand == index; });
    });
  bool isForLate = llvm::none_of(nodes, [&](const LoopNode &node) {
    return split->early[&node - nodes.begin()] &&
           llvm::any_of(node.needs, [&](unsigned need) { return operands[need]; });
  });
  if (!isForLate || !isReleased)
    return std::nullopt;
  split->late |= operands;
  split->early.reset(operands);

  ScheduleBuilder builder(nodes, *split, awaited);
  builder.add(awaited);
  builder.add(operands);
  if (choice.lateFirst)
    builder.addLateMmas();
  builder.addEarlyMmas();
  builder.addLateMmas();
  builder.add(choice.lateFirst ? split->late : split->early);
  builder.add(choice.lateFirst ? split->early : split->late);
  return builder.schedule;
}

/// Returns true if every late MMA accumulates into its result of the previous iteration, which threads do not access.
static bool onlyAdd(ArrayRef<LoopNode> nodes) {
  BitVector late = findChained(nodes);
  return llvm::all_of(late.set_bits(), [&](unsigned index) {
    return llvm::any_of(nodes[index].needsPrevious, [&](unsigned previous) {
      return nodes[previous].kind == LoopNodeKind::await && llvm::is_contained(nodes[previous].needs, index);
    });
  });
}

std::optional<MmaSchedule> tile::planWithin(ArrayRef<LoopNode> nodes) {
  if (count_if(nodes, isMma) < 2)
    return std::nullopt;
  MmaSchedule schedule;
  BitVector done(nodes.size());
  auto add = [&](const BitVector &set) {
    for (unsigned index : set.set_bits())
      if (!done[index]) {
        schedule.push_back({index, LoopStage::early});
        done.set(index);
      }
  };
  auto addSlice = [&](unsigned root) {
    BitVector roots(nodes.size());
    roots.set(root);
    add(findSlice(nodes, roots));
  };
  // Issue an MMA as soon as every MMA on which it depends has been awaited.
  auto issue = [&] {
    for (unsigned index = 0; index < nodes.size(); ++index) {
      if (!isMma(nodes[index]) || done[index])
        continue;
      BitVector roots(nodes.size());
      roots.set(index);
      BitVector slice = findSlice(nodes, roots);
      bool waits = llvm::any_of(slice.set_bits(),
                                [&](unsigned need) { return !done[need] && nodes[need].kind == LoopNodeKind::await; });
      if (!waits)
        add(slice);
    }
  };
  for (unsigned index = 0; index < nodes.size(); ++index) {
    issue();
    // Awaits are placed together with their users.
    if (nodes[index].kind != LoopNodeKind::await)
      addSlice(index);
  }
  for (unsigned index = 0; index < nodes.size(); ++index)
    addSlice(index);
  return schedule;
}

std::string LoopPlan::print() const {
  std::string text;
  for (ScheduledNode scheduled : order)
    text += (text.empty() ? "" : " ") + std::to_string(scheduled.node) + std::string(size_t(scheduled.stage), '\'');
  return text;
}

std::optional<LoopPlan> tile::planLoop(ArrayRef<LoopNode> nodes, const LoopTraits &traits,
                                       llvm::function_ref<bool(const MmaSchedule &)> fits) {
  using enum MmaOverlap;
  std::optional<LoopPlan> plan;
  auto attempt = [&](MmaOverlap overlap, std::optional<MmaSchedule> order) {
    if (!plan && order && (overlap == withinIteration || fits(*order)))
      plan = LoopPlan{overlap, std::move(*order)};
  };
  attempt(nextMmas, planInFlight(nodes));
  if (!plan && traits.groupsKeepBusy)
    attempt(nextIteration,
            planAhead(nodes, onlyAdd(nodes) ? AheadOrder{.operandsLate = true, .lateFirst = true} : AheadOrder{}));
  if (!plan)
    attempt(nextIteration, planAhead(nodes, {.operandsLate = true, .awaitsNext = true}));
  if (!plan && traits.takesLong)
    attempt(nextIteration, planAhead(nodes, {.lateFirst = true}));
  if (!plan)
    attempt(withinIteration, planWithin(nodes));
  return plan;
}
