// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of operations in a loop with several asynchronous MMAs.
//
// Nodes are the operations of a loop body, in program order; an edge says which of two nodes must come first. An MMA
// that depends on another MMA of its iteration is *chained* to it, like the second MMA of attention:
//
//   s = mma(q, k)   p = exp(s)   o = mma(p, v, o)
//
// Nodes that depend on a chained MMA of the same iteration or (through loop-carried values) of an earlier one are late.
// All other nodes are early and run one iteration ahead. A round, one iteration of the new loop, executes parts of
// three iterations of the old one:
//
//   awaited, of iteration i - 1                wait for o(i - 1) with none pending; release v's slot
//   late, of iteration i: left operands        p(i) = half(exp(s(i))), in the registers that o(i - 1) has read
//   early, of iteration i + 1: MMAs            issue s(i + 1)
//   late: everything up to the MMAs            issue o(i), which reads p(i)
//   early: the remainder                       wait for s(i + 1) with one group pending; exp
//
// So MMAs are issued before the results of the previous ones are used. The loop's back edge lies between the
// exponentials and the wait for the MMA that overlaps with them. Inside a basic block, ptxas would move the wait before
// the exponentials.
//
// If the loop is tensor-core bound and runs in several warp groups, the groups keep the tensor cores busy in turn, so a
// round need not have MMAs in flight while it computes. It then also awaits o(i), after the exponentials, so that the
// next round begins with MMAs. If threads do not access accumulators between late MMAs, the late MMAs are issued and
// awaited first, which frees slots and registers for the computation:
//
//   late, of iteration i: left operands        p(i) = half(exp(s(i)))
//   late: everything up to the MMAs            issue o(i), which reads p(i)
//   early, of iteration i + 1: MMAs            issue s(i + 1)
//   late: the remainder                        wait for o(i) with one group pending; release v's slot
//   early: the remainder                       wait for s(i + 1); exp
//
// If registers are scarce, left operands are converted early, in the registers of the values from which they are
// converted.
//
// An MMA that only accumulates into its own result need not wait until the previous MMA is complete. If all MMAs of a
// loop are like this, they stay in flight until the MMAs of the next iteration are issued, and no iteration is peeled:
//
//   late, of iteration i                       issue c(i)
//   awaited, of iteration i - 1                wait for c(i - 1) with one group pending; release its slot
//
// If nothing can run ahead, MMAs are still issued before any MMA is awaited, and each MMA is awaited where its result
// is needed.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace tile {

enum class LoopNodeKind {
  other,
  light,   ///< Takes no time and holds no matrix, like views, scalars and waits for a ring slot. Placed with its users.
  load,    ///< Has a long latency and a result in few registers.
  mma,     ///< Asynchronous.
  await,   ///< Awaits the MMA that it depends on.
  release, ///< Releases a slot of a ring.
  order,   ///< Orders memory: nodes that access memory are not moved across it.
};

struct LoopNode {
  LoopNodeKind kind = LoopNodeKind::other;
  llvm::SmallVector<unsigned, 4> needs;         ///< Dependences within the same iteration; lower indices.
  llvm::SmallVector<unsigned, 1> needsPrevious; ///< Dependences on the previous iteration.
  /// For an MMA with a left operand in registers: the node that produces the operand.
  std::optional<unsigned> leftOperand;
  /// For an MMA of blocks in shared memory (of which threads may read the left one into registers): whether the MMA
  /// adds to its result of the previous iteration, and this result has no other use in the loop.
  bool accumulates = false;
};

/// The iteration of the old loop to which a node of a round belongs: the next one (early), this one (late) or the
/// previous one (awaited).
enum class LoopStage { early, late, awaited };

struct ScheduledNode {
  unsigned node;
  LoopStage stage;
  bool operator==(const ScheduledNode &) const = default;
};

/// All nodes, in the order of the new loop body.
using MmaSchedule = llvm::SmallVector<ScheduledNode>;

/// Plans a loop in which all MMAs accumulate; returns nullopt for other loops. MMAs are awaited, and their slots
/// released, after the MMAs of the next iteration are issued, or before the left operands of those MMAs are read into
/// registers. All other nodes are late, in program order.
std::optional<MmaSchedule> planInFlight(llvm::ArrayRef<LoopNode> nodes);

/// Variants of the schedules that run early nodes one iteration ahead.
struct AheadOrder {
  bool operandsLate = false; ///< The round that issues late MMAs begins with the conversion of their left operands.
  bool lateFirst = false;    ///< Late MMAs are issued before early MMAs, and awaited before them.
  bool awaitsNext = false;   ///< Late MMAs are awaited at the beginning of the following round.
};

/// Runs early nodes one iteration ahead. Returns nullopt if no MMA is chained to another, if no MMA is early, if early
/// nodes depend on late conversions, or if nodes awaited in the next round do more than release slots.
std::optional<MmaSchedule> planAhead(llvm::ArrayRef<LoopNode> nodes, const AheadOrder &choice);

/// Reorders nodes within the iteration: all nodes are early. Returns nullopt for fewer than two MMAs.
std::optional<MmaSchedule> planWithin(llvm::ArrayRef<LoopNode> nodes);

/// The operations that overlap with the MMAs of an iteration.
enum class MmaOverlap { nextMmas, nextIteration, withinIteration };

struct LoopPlan {
  MmaOverlap overlap = MmaOverlap::withinIteration;
  MmaSchedule order;

  /// Prints, for example, "0 2' 1''": the nodes in order, late nodes with one prime and awaited nodes with two.
  std::string print() const;
};

/// Further inputs to the choice of schedule.
struct LoopTraits {
  bool groupsKeepBusy = false; ///< Several warp groups run the loop, and it is tensor-core bound.
  bool takesLong = false;      ///< MMAs take many tensor-core cycles.
};

/// Returns the first plan, in order of preference, that exists and that `fits` accepts. `fits` checks the loop's
/// registers, slots and buffers; it is called only for plans that span several iterations. Warp groups that keep the
/// tensor cores busy await late MMAs in the round that issues them, because the MMAs of other groups overlap with the
/// threads' computation. Late MMAs come first if they only accumulate (measured in bench/results/h200/orders.md).
/// Otherwise, MMAs overlap with the computation of their own group.
std::optional<LoopPlan> planLoop(llvm::ArrayRef<LoopNode> nodes, const LoopTraits &traits,
                                 llvm::function_ref<bool(const MmaSchedule &)> fits);

} // namespace tile
