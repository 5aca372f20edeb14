// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The L2 cache lines that thread blocks request. Concurrent blocks that request the same lines share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tile::explain {

inline constexpr uint64_t l2LineBytes = 128;

/// A set of cache lines of an array, numbered from the line of the array's first byte.
class LineSet {
public:
  void add(uint64_t first, uint64_t last);
  /// Returns each line once, in ascending order.
  std::vector<uint32_t> sorted() const;

private:
  void tidy();

  std::vector<uint32_t> lines;
  size_t tidied = 0; ///< number of leading lines that are sorted and unique
};

} // namespace tile::explain
