// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Layout/ConversionBuffer.h"
#include "Layout/Access.h"
#include "Layout/SharedLayouts.h"

#include <numeric>

namespace tile::layout {

/// Returns true if the eight 16-byte rows of each matrix lie in different banks.
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

/// Returns the number of SM cycles that the accesses of one warp to the buffer take if they are issued one after
/// another.
static int64_t countClocks(const LinearLayout &distributed, const LinearLayout &buffer, unsigned elementBytes) {
  constexpr int64_t wordBytes = 4;
  LinearLayout offsets = memoryOffsets(distributed, buffer);
  unsigned elements = planVectorAccess(offsets, elementBytes).elements;
  int64_t accesses = distributed.numRegisters() / elements,
          wavefronts = std::max<int64_t>(1, elements * elementBytes / wordBytes) +
                       bankConflicts(offsets, elementBytes, elements);
  return accesses * (1 + wavefronts);
}

/// Returns a buffer without bank conflicts for both layouts. A sub-word access takes as long as a 16-byte access, and
/// the elements also have to be packed. For sub-word elements, the buffer is therefore optimized for the wide vectors
/// of one layout if that is clearly cheaper.
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
    // If the costs are similar, prefer the buffer that both layouts access with vectors, because it is well tested.
    if (4 * countBoth(other) <= 3 * countBoth(best))
      best = other;
  }
  return best;
}

/// Returns true if ldmatrix or stmatrix can move the tensor between the layout `fragments` and these rows, four
/// matrices at a time, and if threads of the layout `other` hold 16 adjacent bytes of a row.
static bool fits(const LinearLayout &fragments, const LinearLayout &other, const LinearLayout &rows,
                 unsigned elementBytes) {
  constexpr unsigned maxMatrices = 4;
  std::optional<MatrixAccess> matrices = planLdmatrix(fragments, rows, elementBytes);
  return matrices && matrices->matrices == maxMatrices && isConflictFree(*matrices) &&
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
