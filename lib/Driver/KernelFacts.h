// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constraints on block sizes that follow from a kernel's code.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::driver {

/// Block sizes that the code rules out; no block sizes if the code is not known yet. The code may test constants and so
/// differ between block sizes; therefore the facts found for several sizes are combined.
struct KernelFacts {
  bool refusesOddRows = false; ///< whether row counts that are not powers of two have no benefit
  /// Likewise for columns. If it is true, the cost model does not try such row counts either.
  bool refusesOddColumns = false;
  bool multipliesExactly = false;      ///< whether f32 dots need a higher precision than wgmma has
  bool hasFurtherAccumulators = false; ///< whether a thread holds the accumulators of two dots at the same time

  static KernelFacts onlyPowersOfTwo() { return {.refusesOddRows = true, .refusesOddColumns = true}; }

  KernelFacts operator|(const KernelFacts &other) const;
  bool operator==(const KernelFacts &) const = default;
};

/// Returns the facts of a kernel with blocks of `rows` x `columns`.
KernelFacts findFacts(KernelOp kernel, int64_t rows, int64_t columns);

/// Returns the facts for a kernel that the front end rejects with these blocks but may accept with others.
KernelFacts refusalOf(int64_t rows, int64_t columns);

} // namespace tile::driver
