// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's code says about the blocks that can be chosen for it.
#pragma once

#include "Tile/TileDialect.h"

namespace tile::driver {

/// Each rules out some blocks; none does before the code is known. The code is that for some sizes of blocks, which
/// conditions on constants may have changed, so facts of several sizes add up.
struct KernelFacts {
  bool refusesOddRows = false;    ///< Blocks of rows that are not a power of two are in vain.
  bool refusesOddColumns = false; ///< Of columns; then those of rows are not offered either.
  bool multipliesExactly = false; ///< f32, more precisely than warp groups do
  bool keepsMoreSums = false;     ///< A thread has the sums of two products at a time.

  static KernelFacts onlyPowersOfTwo() { return {.refusesOddRows = true, .refusesOddColumns = true}; }

  KernelFacts operator|(const KernelFacts &other) const;
  bool operator==(const KernelFacts &) const = default;
};

/// Of a kernel with blocks of `rows` x `columns`.
KernelFacts findFacts(KernelOp kernel, int64_t rows, int64_t columns);

/// Of a kernel that the front end rejects with such blocks, and may take with others.
KernelFacts refusalOf(int64_t rows, int64_t columns);

} // namespace tile::driver
