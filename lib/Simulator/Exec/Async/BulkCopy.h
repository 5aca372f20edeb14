// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of linear and tensor bulk copies: their suffixes and destinations.
#pragma once

#include "Simulator/Exec/Async/Async.h"
#include "Simulator/Exec/Async/BulkTransfer.h"

namespace tile::sim {

/// The direction of a copy; it determines the signals of its completion.
enum class BulkDirection : uint8_t { IntoShared, OutOfShared, BetweenShared };

struct BulkForm {
  BulkDirection direction = BulkDirection::IntoShared;
  bool toOwnCta = false; ///< .shared::cta destination
  bool multicast = false;
  /// .cta_group: 2 lets the copy signal a barrier in the other CTA of the destination's pair; 0: absent.
  unsigned ctaGroup = 0;
  bool cacheHint = false;
};

/// {add, min, …}; none: no reduction is next.
std::optional<ReduceOp> takeReduceOp(Decoding &decoding);

/// Starts a copy into shared memory for one lane: resolves box and barrier in every destination CTA.
Step startLoads(const TransferPlan &plan, const BulkForm &form, MapSwizzle swizzle, uint32_t alignment,
                uint64_t destination, uint64_t barrier, uint32_t ctaMask);

} // namespace tile::sim
