// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds configurations among which no launch can choose, because the cost model expects the same time for all of them
// at every size. Such configurations differ in constants that the model does not consider, such as a mode or an unroll
// factor.
#pragma once

#include "Driver/VariantArtifact.h"

namespace tile::driver {

/// Returns the number of configurations of an artifact if their estimates are practically equal at each of several
/// sizes, and no configuration has a condition on its calls. Returns 0 otherwise, and if there is only one
/// configuration or there are no estimates.
size_t countEqualEstimates(llvm::ArrayRef<MadeVariant> made);

} // namespace tile::driver
