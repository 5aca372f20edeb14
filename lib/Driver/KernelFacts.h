// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constraints on block sizes that follow from a kernel's code.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::driver {

/// Block sizes that the code rules out; none before the code is known. Conditions on constants may make the code depend
/// on the block sizes, so the facts found for several sizes are combined.
struct KernelFacts {
  bool refusesOddRows = false;         ///< Row counts that are not powers of two have no benefit.
  bool refusesOddColumns = false;      ///< Likewise for columns; such row counts are then not offered either.
  bool multipliesExactly = false;      ///< f32 dots need a higher precision than wgmma has.
  bool hasFurtherAccumulators = false; ///< A thread holds the accumulators of two dots at the same time.

  static KernelFacts onlyPowersOfTwo() { return {.refusesOddRows = true, .refusesOddColumns = true}; }

  KernelFacts operator|(const KernelFacts &other) const;
  bool operator==(const KernelFacts &) const = default;
};

/// Returns the facts of a kernel with blocks of `rows` x `columns`.
KernelFacts findFacts(KernelOp kernel, int64_t rows, int64_t columns);

/// Returns the facts of a kernel that the front end rejects with these blocks and may accept with others.
KernelFacts refusalOf(int64_t rows, int64_t columns);

} // namespace tile::driver
