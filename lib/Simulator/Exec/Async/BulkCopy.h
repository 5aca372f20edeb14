// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The common part of linear and tensor bulk copies: suffixes and destinations.
#pragma once

#include "Simulator/Exec/Async/Async.h"
#include "Simulator/Exec/Async/BulkTransfer.h"

namespace tile::sim {

/// The direction of a copy. It determines how the copy signals its completion.
enum class BulkDirection : uint8_t { IntoShared, OutOfShared, BetweenShared };

struct BulkForm {
  BulkDirection direction = BulkDirection::IntoShared;
  bool toOwnCta = false; ///< the destination is .shared::cta
  bool multicast = false;
  /// The .cta_group suffix; 0 if there is none. 2 allows the copy to signal a barrier in the other CTA of the
  /// destination's pair.
  unsigned ctaGroup = 0;
  bool cacheHint = false;
};

/// Takes {add, min, …}. Returns nullopt if the next suffix is not a reduction.
std::optional<ReduceOp> takeReduceOp(Decoding &decoding);

/// Starts a copy into shared memory for one lane. Resolves the box and the barrier in every destination CTA.
Step startLoads(const TransferPlan &plan, const BulkForm &form, MapSwizzle swizzle, uint32_t alignment,
                uint64_t destination, uint64_t barrier, uint32_t ctaMask);

} // namespace tile::sim
