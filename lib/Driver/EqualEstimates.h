// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds configurations among which no launch can choose, because the cost model expects the same time of each for every
// size: constants that it does not see, such as a mode or the unrolling of a loop.
#pragma once

#include "Driver/VariantArtifact.h"

namespace tile::driver {

/// Returns the number of configurations of an artifact if the estimates of all are practically equal for each of
/// several sizes, and none has a condition of its own; else 0. Also 0 if there is one, or if there are no estimates.
size_t countEqualEstimates(llvm::ArrayRef<MadeVariant> made);

} // namespace tile::driver
