// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In which order a loop of several asynchronous products does its work.
//
// Nodes are the operations of a body, in program order; an edge says what must come first. A product that depends on
// another one of its iteration is *chained* to it, as the second one of attention is:
//
//   s = product(q, k)   p = exp(s)   o = product(p, v, o)
//
// What depends on chained products, in this iteration or, through what the loop carries, in later ones, is late; all
// else is early and runs an iteration ahead. A round of the new loop does three iterations' work:
//
//   awaited, of iteration i - 1                wait for o, none is pending; release v's slot
//   late, of iteration i: left operands        p(i) = half(exp(s(i))), in the registers that o(i - 1) has read
//   early, of iteration i + 1: products        issue s(i + 1)
//   late: up to its products                   issue o(i), of p(i)
//   early: the rest                            wait for s, one group is pending; exp
//
// So products are issued before what the ones before have computed is looked at. Between the exponentials and the wait
// for the product that runs under them the loop begins anew: inside of a block ptxas would move the wait up.
//
// Where tensor cores bind several warp groups, these keep them busy in turns, and a round need not have products in
// flight while it computes: it awaits o(i), too, after the exponentials, so that the next round begins with products.
// If threads do not touch accumulators between late products, these are issued and awaited first, which frees slots and
// registers for what is computed then:
//
//   late, of iteration i: left operands        p(i) = half(exp(s(i)))
//   late: up to its products                   issue o(i), of p(i)
//   early, of iteration i + 1: products        issue s(i + 1)
//   late: the rest                             wait for o(i), one group is pending; release v's slot
//   early: the rest                            wait for s(i + 1); exp
//
// With fewer registers left operands are made early, in the registers of what they are made of.
//
// A product that only adds to its own sum needs none that is complete. If all are such, they stay in flight until the
// next ones are issued, and no iteration stands apart:
//
//   late, of iteration i                       issue c(i)
//   awaited, of iteration i - 1                wait for c(i - 1), one group is pending; release its slot
//
// If nothing can run ahead, products are still issued before anything is awaited, and awaited where they are needed.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>

namespace tile {

enum class LoopNodeKind {
  other,
  light,   ///< Costs nothing and holds no matrix: views, numbers, waits for a ring's slot. Joins what it is for.
  load,    ///< Has a long latency, and few registers for its result.
  product, ///< Asynchronous.
  await,   ///< Of the product that it needs.
  release, ///< Of a ring's slot.
  order,   ///< Of memory: nodes that access it stay on their side.
};

struct LoopNode {
  LoopNodeKind kind = LoopNodeKind::other;
  llvm::SmallVector<unsigned, 4> needs;         ///< Of the same iteration; lower numbers.
  llvm::SmallVector<unsigned, 1> needsPrevious; ///< Of the iteration before.
  std::optional<unsigned> leftOperand;          ///< Of a product: the node that makes it, in registers.
  /// Of a product of blocks in shared memory, the left one perhaps read into registers: adds to its sum of the
  /// iteration before, which nothing else in the loop sees.
  bool accumulates = false;
};

/// Of which iteration a round does it: the next one, this one or the one before.
enum class LoopStage { early, late, awaited };

struct ScheduledNode {
  unsigned node;
  LoopStage stage;
  bool operator==(const ScheduledNode &) const = default;
};

/// All nodes, in the order of the new body.
using ProductSchedule = llvm::SmallVector<ScheduledNode>;

/// Products are awaited, and what they read released, after those of the next iteration, or before its left operands
/// are read into registers; all other nodes are late, in program order. None unless all accumulate.
std::optional<ProductSchedule> planInFlight(llvm::ArrayRef<LoopNode> nodes);

/// What orders an iteration ahead differ in.
struct AheadOrder {
  bool operandsLate = false; ///< What converts left operands of late products begins the round that issues these.
  bool lateFirst = false;    ///< Late products are issued before early ones, and awaited before them.
  bool awaitsNext = false;   ///< Late products are awaited in the round after, before all else.
};

/// Early nodes an iteration ahead; none if no product is chained to another, if none is early, if early nodes need what
/// is converted late, or if what awaits the next round is more than releases of slots.
std::optional<ProductSchedule> planAhead(llvm::ArrayRef<LoopNode> nodes, const AheadOrder &choice);

/// Within the iteration: all nodes are early. None with fewer than two products.
std::optional<ProductSchedule> planWithin(llvm::ArrayRef<LoopNode> nodes);

/// With what the products of an iteration overlap.
enum class ProductOverlap { nextProducts, nextIteration, withinIteration };

struct LoopPlan {
  ProductOverlap overlap = ProductOverlap::withinIteration;
  ProductSchedule order;

  /// "0 2' 1''": nodes in order; late ones have a prime, awaited ones two.
  std::string print() const;
};

/// What else decides about an order.
struct LoopTraits {
  bool groupsKeepBusy = false; ///< Several warp groups run the loop, and tensor cores are what binds it.
  bool takesLong = false;      ///< Products take many clocks of the tensor cores.
};

/// The first of these plans that there is and, if it is of several iterations, that `fits`: the loop's registers, slots
/// and buffers. Groups that keep the tensor cores busy await late products in the round that issues them, since the
/// others' products run under what threads compute, and first if these only add to their accumulators: measured in
/// bench/results/h200/orders.md. Else products run under what their own group computes.
std::optional<LoopPlan> planLoop(llvm::ArrayRef<LoopNode> nodes, const LoopTraits &traits,
                                 llvm::function_ref<bool(const ProductSchedule &)> fits);

} // namespace tile
