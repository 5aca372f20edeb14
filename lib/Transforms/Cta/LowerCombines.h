// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cta-lower-combines needs, for those that decide whether there is room for it.
#pragma once

#include "Cta/CtaDialect.h"

namespace tile {

/// Where the first CTA of a cluster gets the accumulators of the others: a slot for each, with a word for each register
/// of each thread.
cta::BufferType planExchangeBuffer(mlir::RankedTensorType sum, int64_t ctas);

} // namespace tile
