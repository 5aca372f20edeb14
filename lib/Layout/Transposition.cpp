// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layouts of a transposition; see Transposition.h.
#include "Layout/Transposition.h"

#include "Layout/Factories.h"

#include <algorithm>
#include <bit>

namespace tile::layout {

static constexpr int64_t chunkBytes = 16, bankLineBytes = 128;
static constexpr int64_t mostColumns = 4; // of a thread: a word of 8-bit elements, a chunk of 32-bit ones
static constexpr int64_t laneRows = 4, laneColumns = 8;

/// Rows of plain storage in panels of 128 bytes, of which bits from `firstRow` on also move the highest chunks.
static LinearLayout planCopy(const std::vector<int64_t> &shape, unsigned elementBytes, unsigned from,
                             int64_t firstRow) {
  int64_t panel = std::min<int64_t>(shape[from], bankLineBytes / elementBytes), rows = shape[1 - from];
  uint64_t rowStride = from == 1 ? uint64_t(shape[1]) : 1, columnStride = from == 1 ? 1 : uint64_t(shape[1]);
  std::vector<uint64_t> bases;
  for (int64_t column = 1; column < panel; column *= 2)
    bases.push_back(columnStride * uint64_t(column));
  const size_t columnBits = bases.size();
  for (int64_t row = 1; row < rows; row *= 2)
    bases.push_back(rowStride * uint64_t(row));
  for (int64_t column = panel; column < shape[from]; column *= 2)
    bases.push_back(columnStride * uint64_t(column));
  const size_t moved = std::countr_zero(uint64_t(laneRows)), rowBit = columnBits + std::countr_zero(uint64_t(firstRow));
  bool isWholeLine = panel * elementBytes == bankLineBytes && rows >= firstRow * laneRows;
  for (size_t bit = 0; isWholeLine && bit < moved; ++bit)
    bases[rowBit + bit] ^= bases[columnBits - moved + bit];
  return LinearLayout::shared(std::move(bases), shape);
}

Transposition planTransposition(const std::vector<int64_t> &shape, unsigned elementBytes, unsigned from,
                                int64_t numWarps) {
  const unsigned to = 1 - from;
  const int64_t threads = numWarps << laneBits, elements = std::max<int64_t>(shape[0] * shape[1] / threads, 1);
  const int64_t rows = std::min({chunkBytes / elementBytes, shape[to], elements}),
                columns = std::min({mostColumns, shape[from], elements / rows});
  BlockedTile tile{{1, 1}, {1, 1}, {1, 1}, {to, from}};
  tile.sizePerThread[to] = rows;
  tile.sizePerThread[from] = columns;
  tile.threadsPerWarp[to] = laneRows;
  tile.threadsPerWarp[from] = laneColumns;
  tile.warpsPerCta[to] = std::clamp<int64_t>(shape[to] / (rows * laneRows), 1, numWarps);
  tile.warpsPerCta[from] = numWarps / tile.warpsPerCta[to];
  return {planCopy(shape, elementBytes, from, rows), blocked(shape, tile)};
}

} // namespace tile::layout
