// Slot and parity of a ring as values that the loops and branches around its block carry.
//
//   for i {                 for i, (slot, parity) {
//     if %c {                 %0:2 = if %c {
//       block       ==>         block; yield next(slot, parity)
//     }                       } else { yield slot, parity }
//   }                         yield %0#0, %0#1 }
//
// Whoever runs the same program counts the same slots, and goes on where the block last ended.
#pragma once

#include "Analysis/RolePlan.h"

#include "mlir/IR/PatternMatch.h"

namespace tile {

struct RingCounters {
  mlir::Value slot, parity; ///< i32
};

/// Replaces the loops and branches around the channel by some that carry its counters. They are `start` before
/// all, and after the channel's block what `next` emits. Returns the index of the slot among the arguments of the
/// innermost loop's body, before the parity's.
unsigned carryCounters(mlir::RewriterBase &rewriter, const Channel &channel, RingCounters start,
                       llvm::function_ref<RingCounters(RingCounters)> next);

/// The same for a channel that goes on with the slots of the one in a loop before it (Channel::isContinuedBy), whose
/// slot is the argument `index` there: what followed that loop follows this one's.
unsigned continueCounters(mlir::RewriterBase &rewriter, const Channel &previous, unsigned index, const Channel &channel,
                          llvm::function_ref<RingCounters(RingCounters)> next);

/// Those at the start of the channel's block; `start` if no loop is around it.
RingCounters getCounters(const Channel &channel, unsigned index, RingCounters start);

} // namespace tile
