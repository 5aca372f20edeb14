// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queries of cta-lower-combines for passes that check whether its buffer fits.
#pragma once

#include "Cta/CtaDialect.h"

namespace tile {

/// Returns the buffer in which the first CTA of a cluster receives the accumulators of the others: one slot for each,
/// with a word for each register of each thread.
cta::BufferType planExchangeBuffer(mlir::RankedTensorType sum, int64_t ctas);

} // namespace tile
