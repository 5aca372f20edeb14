// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of L2 that thread blocks ask for. Blocks that run at a time and ask for the same lines share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tile::explain {

inline constexpr uint64_t l2LineBytes = 128;

/// Lines of an array, by number from its first byte's.
class LineSet {
public:
  void add(uint64_t first, uint64_t last);
  /// Each once, in order.
  std::vector<uint32_t> sorted() const;

private:
  void tidy();

  std::vector<uint32_t> lines;
  size_t tidied = 0; ///< so many of the first lines are sorted, and differ
};

} // namespace tile::explain
