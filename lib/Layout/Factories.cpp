// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements blocked layouts; see Factories.h.

#include "Layout/Factories.h"

#include "Layout/PowerOfTwo.h"

#include <algorithm>
#include <cassert>

namespace tile::layout {

namespace {

/// Hands out the bits of the coordinates of a shape, the lowest bit of each dimension first.
class BitCursor {
public:
  explicit BitCursor(const std::vector<int64_t> &shape) : shape(shape), used(shape.size(), 0) {}

  /// Returns the next bit along `axis` as a row-major index, or 0 if the dimension is exhausted.
  uint64_t take(unsigned axis) {
    if (used[axis] == log2Of(shape[axis]))
      return 0;
    uint64_t stride = 1;
    for (size_t inner = axis + 1; inner < shape.size(); ++inner)
      stride *= static_cast<uint64_t>(shape[inner]);
    return stride << used[axis]++;
  }

private:
  const std::vector<int64_t> &shape;
  std::vector<unsigned> used;
};

} // namespace

LinearLayout blocked(const std::vector<int64_t> &shape, const BlockedTile &tile) {
  assert(tile.order.size() == shape.size() && tile.sizePerThread.size() == shape.size() &&
         tile.threadsPerWarp.size() == shape.size() && tile.warpsPerCta.size() == shape.size() &&
         "one size for each dimension");
  BitCursor cursor(shape);
  std::vector<uint64_t> registers, lanes, warps;
  auto takeTile = [&](const std::vector<int64_t> &sizes, std::vector<uint64_t> &bases) {
    for (unsigned axis : tile.order)
      for (unsigned bit = 0; bit < log2Of(sizes[axis]); ++bit)
        bases.push_back(cursor.take(axis));
  };
  takeTile(tile.sizePerThread, registers);
  takeTile(tile.threadsPerWarp, lanes);
  takeTile(tile.warpsPerCta, warps);
  takeTile(shape, registers); // the remaining bits; exhausted dimensions give zeros
  std::erase(registers, uint64_t(0));
  return LinearLayout::distributed(std::move(registers), std::move(lanes), std::move(warps), shape);
}

BlockedTile defaultBlockedTile(const std::vector<int64_t> &shape, const std::vector<unsigned> &order,
                               int64_t vectorElements, int64_t numWarps) {
  size_t rank = shape.size();
  BlockedTile tile{std::vector<int64_t>(rank, 1), std::vector<int64_t>(rank, 1), std::vector<int64_t>(rank, 1), order};
  if (rank == 0)
    return tile;
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  int64_t threads = int64_t(1) << laneBits;
  int64_t elementsPerThread = std::max<int64_t>(1, elements / (threads * numWarps));
  tile.sizePerThread[order[0]] = std::min({vectorElements, shape[order[0]], elementsPerThread});
  int64_t warps = numWarps;
  for (unsigned axis : order) {
    int64_t left = shape[axis] / tile.sizePerThread[axis];
    tile.threadsPerWarp[axis] = std::min(threads, left);
    tile.warpsPerCta[axis] = std::min(warps, left / tile.threadsPerWarp[axis]);
    threads /= tile.threadsPerWarp[axis];
    warps /= tile.warpsPerCta[axis];
  }
  // The tensor has fewer elements than there are threads, so the remaining threads hold copies.
  tile.threadsPerWarp[order.back()] *= threads;
  tile.warpsPerCta[order.back()] *= warps;
  return tile;
}

LinearLayout defaultBlocked(const std::vector<int64_t> &shape, const std::vector<unsigned> &order,
                            int64_t vectorElements, int64_t numWarps) {
  // A tensor of rank 0 has no dimension to distribute over threads, so every thread holds the only element.
  if (!shape.empty())
    return blocked(shape, defaultBlockedTile(shape, order, vectorElements, numWarps));
  return LinearLayout::distributed({}, std::vector<uint64_t>(laneBits, 0), std::vector<uint64_t>(log2Of(numWarps), 0),
                                   shape);
}

LinearLayout outerProduct(const std::vector<int64_t> &shape, int64_t vectorElements, int64_t numWarps) {
  constexpr int64_t lanes = int64_t(1) << laneBits, lanesOfPhase = 8; // lanes of one shared-memory phase
  int64_t rows = shape[0], columns = shape[1];
  BlockedTile best = defaultBlockedTile(shape, {1, 0}, /*vectorElements=*/1, numWarps);
  auto countLines = [&](const BlockedTile &tile) {
    int64_t lines = 0;
    for (unsigned axis : {0u, 1u})
      lines += std::max<int64_t>(1, shape[axis] / (tile.threadsPerWarp[axis] * tile.warpsPerCta[axis]));
    return lines;
  };
  for (int64_t lanesOfColumns = lanes; lanesOfColumns >= lanesOfPhase; lanesOfColumns /= 2)
    for (int64_t warpsOfColumns = numWarps; warpsOfColumns >= 1; warpsOfColumns /= 2) {
      int64_t threadsOfColumns = lanesOfColumns * warpsOfColumns, threadsOfRows = lanes * numWarps / threadsOfColumns;
      if (threadsOfColumns > columns || threadsOfRows > rows)
        continue;
      int64_t vector = std::min(vectorElements, columns / threadsOfColumns);
      BlockedTile tile{
          {1, vector}, {lanes / lanesOfColumns, lanesOfColumns}, {numWarps / warpsOfColumns, warpsOfColumns}, {1, 0}};
      if (countLines(tile) < countLines(best))
        best = tile;
    }
  return blocked(shape, best);
}

std::vector<unsigned> rowMajorOrder(unsigned rank) {
  std::vector<unsigned> order(rank);
  for (unsigned position = 0; position < rank; ++position)
    order[position] = rank - 1 - position;
  return order;
}

} // namespace tile::layout
