// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Layout/ConversionBuffer.h"
#include "Layout/Access.h"
#include "Layout/SharedLayouts.h"

#include <numeric>

namespace tile::layout {

/// Whether the eight rows of each matrix, 16 bytes each, lie in different banks.
static bool isConflictFree(const MatrixAccess &access) {
  constexpr unsigned rowBits = 3, chunkBytes = 16, chunksOfLine = 8;
  std::vector<uint64_t> lanes = access.addresses.flatBases(laneDim);
  Span chunks;
  for (unsigned bit = 0; bit < rowBits; ++bit)
    chunks.insert(lanes[bit] / chunkBytes % chunksOfLine);
  return chunks.dimension() == rowBits;
}

static bool takesWholeRows(const LinearLayout &distributed, const LinearLayout &buffer, unsigned elementBytes) {
  constexpr unsigned widestBytes = 16;
  LinearLayout offsets = memoryOffsets(distributed, buffer);
  unsigned elements = planVectorAccess(offsets, elementBytes).elements;
  return elements * elementBytes == widestBytes && bankConflicts(offsets, elementBytes, elements) == 0;
}

/// Clocks of the multiprocessor for a warp's accesses to the buffer, issued one by one.
static int64_t countClocks(const LinearLayout &distributed, const LinearLayout &buffer, unsigned elementBytes) {
  constexpr int64_t wordBytes = 4;
  LinearLayout offsets = memoryOffsets(distributed, buffer);
  unsigned elements = planVectorAccess(offsets, elementBytes).elements;
  int64_t accesses = distributed.numRegisters() / elements,
          wavefronts = std::max<int64_t>(1, elements * elementBytes / wordBytes) +
                       bankConflicts(offsets, elementBytes, elements);
  return accesses * (1 + wavefronts);
}

/// Without bank conflicts on both sides. What is narrower than a word, for which each access would take as long as for
/// 16 bytes, and has to be put together, goes in wide vectors of the side that has more elements.
static LinearLayout cheapestBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes) {
  constexpr unsigned wordBytes = 4;
  LinearLayout best = bankConflictFree(src, dst, elementBytes);
  if (elementBytes >= wordBytes)
    return best;
  auto countBoth = [&](const LinearLayout &buffer) {
    return countClocks(src, buffer, elementBytes) + countClocks(dst, buffer, elementBytes);
  };
  for (const LinearLayout &side : {src, dst}) {
    LinearLayout other = bankConflictFree(side, side, elementBytes);
    if (4 * countBoth(other) <= 3 * countBoth(best)) // of what is about the same the first is well known
      best = other;
  }
  return best;
}

/// Threads of one side have fragments of matrices in these rows, which ldmatrix or stmatrix moves four at a time, and
/// those of the other one 16 bytes of a row next to each other.
static bool fits(const LinearLayout &fragments, const LinearLayout &other, const LinearLayout &rows,
                 unsigned elementBytes) {
  constexpr unsigned mostMatrices = 4;
  std::optional<MatrixAccess> matrices = planLdmatrix(fragments, rows, elementBytes);
  return matrices && matrices->matrices == mostMatrices && isConflictFree(*matrices) &&
         takesWholeRows(other, rows, elementBytes);
}

LinearLayout conversionBuffer(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes) {
  constexpr unsigned wordBytes = 4;
  const std::vector<int64_t> &shape = src.outShape();
  bool sharesWords = elementBytes < wordBytes && src.rank() > 1;
  for (unsigned contiguous = src.rank(); sharesWords && contiguous-- > 0;) {
    std::vector<unsigned> order(src.rank());
    std::iota(order.rbegin(), order.rend(), 0u);
    std::erase(order, contiguous);
    order.insert(order.begin(), contiguous);
    LinearLayout rows = swizzledShared(shape, elementBytes, order, chooseSwizzle(shape, elementBytes, order));
    if (fits(dst, src, rows, elementBytes) || fits(src, dst, rows, elementBytes))
      return rows;
  }
  return cheapestBuffer(src, dst, elementBytes);
}

} // namespace tile::layout
