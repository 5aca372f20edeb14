// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeded random layouts, and the exhaustive walks that the tests compare the algebra with.
#pragma once

#include "Layout/Print.h"

#include <algorithm>
#include <ostream>
#include <random>

namespace tile::layout {
/// Called by GoogleTest, so that failures print layouts as text.
inline void PrintTo(const LinearLayout &layout, std::ostream *stream) {
  *stream << toString(layout);
}
} // namespace tile::layout

namespace tile::layout::test {

class RandomLayouts {
public:
  explicit RandomLayouts(unsigned seed) : engine(seed) {}

  unsigned below(unsigned end) { return static_cast<unsigned>(engine() % end); }

  /// A shape of `rank` dimensions with `bits` bits in all.
  std::vector<int64_t> shape(unsigned rank, unsigned bits) {
    std::vector<int64_t> result(rank, 1);
    for (unsigned bit = 0; bit < bits; ++bit)
      result[below(rank)] *= 2;
    return result;
  }

  /// A uniformly mixed basis of all `bits` bits.
  std::vector<uint64_t> basis(unsigned bits) {
    std::vector<uint64_t> columns;
    Span span;
    while (columns.size() < bits) {
      uint64_t column = engine() & ((uint64_t(1) << bits) - 1);
      if (span.contains(column))
        continue;
      span.insert(column);
      columns.push_back(column);
    }
    return columns;
  }

  /// Returns the unit vectors of `bits` bits in random order, as factories produce them.
  std::vector<uint64_t> units(unsigned bits) {
    std::vector<uint64_t> columns(bits);
    for (unsigned bit = 0; bit < bits; ++bit)
      columns[bit] = uint64_t(1) << bit;
    std::shuffle(columns.begin(), columns.end(), engine);
    return columns;
  }

  /// A surjective distributed layout; `copies` zero or dependent bases are scattered among lanes and warps.
  LinearLayout distributed(const std::vector<int64_t> &shape, unsigned warpBits, unsigned copies, bool mixed) {
    unsigned bits = 0;
    for (int64_t size : shape)
      for (; size > 1; size /= 2)
        ++bits;
    std::vector<uint64_t> columns = mixed ? basis(bits) : units(bits);
    for (unsigned copy = 0; copy < copies || columns.size() < laneBits + warpBits; ++copy)
      columns.insert(columns.begin() + below(static_cast<unsigned>(columns.size()) + 1),
                     mixed && below(2) ? columns[below(static_cast<unsigned>(columns.size()))] : 0);
    auto lanes = columns.begin(), warps = lanes + laneBits, registers = warps + warpBits;
    return LinearLayout::distributed({registers, columns.end()}, {lanes, warps}, {warps, registers}, shape);
  }

  LinearLayout shared(const std::vector<int64_t> &shape) {
    unsigned bits = 0;
    for (int64_t size : shape)
      for (; size > 1; size /= 2)
        ++bits;
    return LinearLayout::shared(basis(bits), shape);
  }

private:
  std::mt19937 engine;
};

/// Calls visit(register, lane, warp) for every thread and register.
template <typename Visit> void forEachInput(const LinearLayout &layout, Visit visit) {
  for (int64_t warp = 0; warp < layout.numWarps(); ++warp)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t index = 0; index < layout.numRegisters(); ++index)
        visit(index, lane, warp);
}

inline std::vector<int32_t> at(const LinearLayout &layout, int64_t index, int64_t lane, int64_t warp) {
  return layout.apply({{registerDim, index}, {laneDim, lane}, {warpDim, warp}});
}

inline uint64_t flatAt(const LinearLayout &layout, int64_t index, int64_t lane, int64_t warp) {
  return layout.applyFlat({{registerDim, index}, {laneDim, lane}, {warpDim, warp}});
}

} // namespace tile::layout::test
