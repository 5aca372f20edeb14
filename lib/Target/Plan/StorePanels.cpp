// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements StorePanels.h.
#include "Target/Plan/StorePanels.h"

#include <algorithm>

namespace tile::target {

StorePanels planStorePanels(int64_t size, int64_t widest, bool mayHaveRemainder) {
  // The largest power of two that divides the size. The remainder is a power of two only if it equals this divisor.
  int64_t divisor = size & -size, panel = widest;
  if (!mayHaveRemainder || size < widest || size % widest != divisor)
    panel = std::min(widest, divisor);
  int64_t count = size / panel;
  return {panel, count, std::min(count, storeBuffers), size % panel};
}

} // namespace tile::target
