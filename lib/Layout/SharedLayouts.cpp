// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared-memory layouts; see SharedLayouts.h.
//
// bankConflictFree builds a basis of the element space from the lowest offset bit up: V (the vector), U (the remainder
// of a 4-byte word), B (the bank) and S (beyond 128 bytes). Two lanes of a phase conflict if they differ in S and agree
// in B. Therefore S and U are taken from a subspace whose intersection with the span of the lanes of a phase is {0},
// both for src and for dst. With
//   src lanes = C + A,  dst lanes = C + D   (C common, A and D of equal size after padding)
// the span of { a_i + d_i } and of a complement of all lanes is such a subspace, and a largest one.

#include "Layout/SharedLayouts.h"

#include "Layout/PowerOfTwo.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <iterator>

namespace tile::layout {

namespace {

constexpr int64_t wordBytes = 4;       // width of a bank
constexpr int64_t maxVectorBytes = 16; // widest ld.shared / st.shared

/// Returns the row-major strides of a shape.
std::vector<uint64_t> rowMajorStrides(const std::vector<int64_t> &shape) {
  std::vector<uint64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * static_cast<uint64_t>(shape[axis]);
  return strides;
}

/// Returns the offset bits of plain storage that is divided into panels of `panel` elements along order[0].
std::vector<uint64_t> panelBases(const std::vector<int64_t> &shape, const std::vector<unsigned> &order, int64_t panel) {
  std::vector<uint64_t> strides = rowMajorStrides(shape);
  std::vector<uint64_t> bases;
  auto take = [&](unsigned axis, int64_t first, int64_t end) {
    for (; first < end; first *= 2)
      bases.push_back(strides[axis] * static_cast<uint64_t>(first));
  };
  for (size_t position = 0; position < order.size(); ++position) {
    if (position == 0)
      take(order[0], 1, panel);
    else
      take(order[position], 1, shape[order[position]]);
    // A panel holds all rows of the second dimension before the next panel starts, so an outer index still selects one
    // contiguous buffer.
    if (position == std::min<size_t>(1, order.size() - 1))
      take(order[0], panel, shape[order[0]]);
  }
  return bases;
}

int64_t panelExtent(const std::vector<int64_t> &shape, unsigned elementBytes, const std::vector<unsigned> &order,
                    unsigned swizzleBytes) {
  int64_t extent = shape[order[0]];
  return swizzleBytes == 0 ? extent : std::min<int64_t>(extent, swizzleBytes / elementBytes);
}

} // namespace

LinearLayout unswizzledShared(const std::vector<int64_t> &shape, const std::vector<unsigned> &order) {
  return swizzledShared(shape, 1, order, 0);
}

LinearLayout swizzledShared(const std::vector<int64_t> &shape, unsigned elementBytes,
                            const std::vector<unsigned> &order, unsigned swizzleBytes) {
  assert((swizzleBytes == 0 || swizzleBytes == 32 || swizzleBytes == 64 || swizzleBytes == 128) &&
         "swizzles span 32, 64 or 128 bytes");
  assert(order.size() == shape.size() && "the order must contain each dimension once");
  if (shape.empty())
    return LinearLayout::shared({}, shape);
  std::vector<uint64_t> bases = panelBases(shape, order, panelExtent(shape, elementBytes, order, swizzleBytes));
  // position[bit 4 + i] = chunk[bit 4 + i] ^ address[bit 7 + i], so a step of 2^(7 + i) bytes also flips chunk bit 4 +
  // i.
  unsigned chunkBit = log2Of(chunkBytes / elementBytes), lineBit = log2Of(bankLineBytes / elementBytes);
  unsigned swizzleBits = swizzleBytes == 0 ? 0 : log2Of(swizzleBytes / chunkBytes);
  for (unsigned bit = 0; bit < swizzleBits && lineBit + bit < bases.size(); ++bit)
    bases[lineBit + bit] ^= bases[chunkBit + bit];
  return LinearLayout::shared(std::move(bases), shape);
}

unsigned chooseSwizzle(const std::vector<int64_t> &shape, unsigned elementBytes, const std::vector<unsigned> &order) {
  if (shape.empty())
    return 0;
  int64_t rowBytes = shape[order[0]] * elementBytes;
  for (unsigned swizzleBytes : {128u, 64u, 32u})
    if (rowBytes >= swizzleBytes)
      return swizzleBytes;
  return 0;
}

namespace {

/// Completes the storage order: the dimensions in `fixed` come first, followed by the dimensions in `followers` that
/// are not in `fixed`. Dimensions of size 1 are inserted such that the order is the lexicographically greatest, as in
/// row-major storage.
std::vector<unsigned> completeOrder(const std::vector<int64_t> &shape, const std::vector<unsigned> &fixed,
                                    const std::vector<unsigned> &followers) {
  std::vector<unsigned> order = fixed, chain, units;
  auto isFixed = [&](unsigned dim) { return std::find(fixed.begin(), fixed.end(), dim) != fixed.end(); };
  std::copy_if(followers.begin(), followers.end(), std::back_inserter(chain), std::not_fn(isFixed));
  for (unsigned dim = static_cast<unsigned>(shape.size()); dim-- > 0;)
    if (shape[dim] == 1 && !isFixed(dim))
      units.push_back(dim);
  for (auto next = chain.begin(), unit = units.begin(); next != chain.end() || unit != units.end();)
    order.push_back(unit == units.end() || (next != chain.end() && *next > *unit) ? *next++ : *unit++);
  return order;
}

/// Returns the lexicographically greatest order for which `layout` may be the result of swizzledShared with this
/// swizzle. The caller must verify that it is.
std::vector<unsigned> findOrder(const LinearLayout &layout, unsigned elementBytes, unsigned swizzleBytes) {
  const std::vector<int64_t> &shape = layout.outShape();
  // The swizzle XORs a chunk bit into a line bit; applying it again reverses it.
  std::vector<uint64_t> bases = layout.flatBases(offsetDim);
  unsigned chunkBit = log2Of(chunkBytes / elementBytes), lineBit = log2Of(bankLineBytes / elementBytes);
  for (unsigned bit = 0; bit < (swizzleBytes == 0 ? 0 : log2Of(swizzleBytes / chunkBytes)); ++bit)
    if (lineBit + bit < bases.size())
      bases[lineBit + bit] ^= bases[chunkBit + bit];
  std::vector<unsigned> followers; // dimensions in the order of their first bits
  size_t firstRun = 0;             // number of bits before the second dimension
  for (size_t bit = 0; bit < bases.size(); ++bit) {
    std::vector<int32_t> step = layout.unflatten(bases[bit]);
    auto dim = unsigned(std::find_if(step.begin(), step.end(), [](int32_t size) { return size != 0; }) - step.begin());
    if (dim < step.size() && std::find(followers.begin(), followers.end(), dim) == followers.end())
      followers.push_back(dim);
    firstRun += followers.size() == 1;
  }
  if (followers.empty() || swizzleBytes == 0)
    return completeOrder(shape, {}, followers);
  std::vector<unsigned> fixed{followers.front()};
  bool isWhole = int64_t(1) << firstRun >= shape[fixed.front()];
  // If there are panels, the second dimension lies between the bits within a panel and the bits that select a panel. It
  // may be a dimension of size 1, which has no bases.
  if (int64_t(swizzleBytes / elementBytes) < shape[fixed.front()]) {
    if (!isWhole && followers.size() > 1)
      fixed.push_back(followers[1]);
    for (auto dim = static_cast<unsigned>(shape.size()); isWhole && fixed.size() == 1 && dim-- > 0;)
      if (shape[dim] == 1)
        fixed.push_back(dim);
  }
  return completeOrder(shape, fixed, followers);
}

} // namespace

std::optional<SwizzleForm> matchSwizzle(const LinearLayout &layout, unsigned elementBytes) {
  if (verifyShared(layout))
    return std::nullopt;
  const std::vector<int64_t> &shape = layout.outShape();
  std::optional<SwizzleForm> best;
  for (unsigned swizzleBytes : {0u, 128u, 64u, 32u}) {
    std::vector<unsigned> order = findOrder(layout, elementBytes, swizzleBytes);
    // For a few narrow rows, several swizzles give the same layout. But a row that TMA writes is at least as wide as
    // the swizzle.
    bool isWideEnough = swizzleBytes == 0 || (!order.empty() && shape[order[0]] * elementBytes >= swizzleBytes);
    if (order.size() != shape.size()) // some dimension moves only together with another one
      continue;
    // Prefer row-major order.
    if (isWideEnough && (!best || order > best->order) &&
        swizzledShared(shape, elementBytes, order, swizzleBytes) == layout)
      best =
          SwizzleForm{order, swizzleBytes, shape.empty() ? 1 : panelExtent(shape, elementBytes, order, swizzleBytes)};
  }
  return best;
}

std::optional<int64_t> usedExtent(const LinearLayout &layout, const std::vector<int64_t> &shape) {
  const std::vector<int64_t> &whole = layout.outShape();
  assert(shape.size() == whole.size() && "one size for each dimension");
  std::optional<size_t> axis;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] == whole[dim])
      continue;
    if (axis || shape[dim] > whole[dim])
      return std::nullopt;
    axis = dim;
  }
  int64_t unit = layout.numElements();
  if (!axis)
    return unit;
  // Drops the highest offset bits, each of which selects a half of the dimension; the other bits must not reach beyond
  // the remaining half.
  Bases bases = layout.bases(offsetDim);
  int64_t extent = whole[*axis];
  for (; !bases.empty(); bases.pop_back()) {
    std::vector<int32_t> halves(whole.size(), 0);
    halves[*axis] = int32_t(extent / 2);
    auto reaches = [&](const std::vector<int32_t> &basis) { return basis[*axis] >= extent / 2; };
    if (extent == 1 || bases.back() != halves || std::any_of(bases.begin(), bases.end() - 1, reaches))
      break;
    extent /= 2;
    unit /= 2;
  }
  if (extent == whole[*axis])
    return std::nullopt;
  return (shape[*axis] + extent - 1) / extent * unit;
}

namespace {

void append(std::vector<uint64_t> &vectors, const std::vector<uint64_t> &more) {
  vectors.insert(vectors.end(), more.begin(), more.end());
}

std::vector<uint64_t> lanesAndWarps(const LinearLayout &layout) {
  std::vector<uint64_t> vectors = layout.flatBases(laneDim);
  append(vectors, layout.flatBases(warpDim));
  return vectors;
}

/// Returns a subset of `vectors` that extends span(base), chosen greedily.
std::vector<uint64_t> extension(const std::vector<uint64_t> &base, const std::vector<uint64_t> &vectors) {
  Span span(independentSubset(base));
  std::vector<uint64_t> result;
  for (uint64_t vector : vectors)
    if (span.insert(vector))
      result.push_back(vector);
  return result;
}

/// Returns a basis of a largest subspace of span(space) that intersects span(first) and span(second) only in {0}.
/// `first` and `second` must span subspaces of span(space).
std::vector<uint64_t> avoiding(const std::vector<uint64_t> &space, const std::vector<uint64_t> &first,
                               const std::vector<uint64_t> &second) {
  std::vector<uint64_t> common = intersectSpans(first, second);
  std::vector<uint64_t> onlyFirst = extension(common, first), onlySecond = extension(common, second);
  std::vector<uint64_t> both = first;
  append(both, second);
  std::vector<uint64_t> result = extension(both, space);
  for (size_t index = 0; index < std::min(onlyFirst.size(), onlySecond.size()); ++index)
    result.push_back(onlyFirst[index] ^ onlySecond[index]);
  return result;
}

std::vector<uint64_t> phaseLanes(const LinearLayout &layout, unsigned laneBitsOfPhase) {
  std::vector<uint64_t> lanes = layout.flatBases(laneDim);
  lanes.resize(laneBitsOfPhase);
  return lanes;
}

} // namespace

LinearLayout bankConflictFree(const LinearLayout &src, const LinearLayout &dst, unsigned elementBytes) {
  assert(src.outShape() == dst.outShape() && "a conversion keeps the shape");
  unsigned totalBits = src.totalOutBits();

  // The vector consists of elements that one thread holds in both layouts. Lanes and warps must not change the low
  // offset bits, so their directions are excluded.
  std::vector<uint64_t> threads = lanesAndWarps(src);
  append(threads, lanesAndWarps(dst));
  threads = independentSubset(threads);
  std::vector<uint64_t> vector =
      extension(threads, intersectSpans(src.flatBases(registerDim), dst.flatBases(registerDim)));
  unsigned maxVectorBits = log2Of(std::max<int64_t>(1, maxVectorBytes / elementBytes));
  vector.resize(std::min<size_t>(vector.size(), maxVectorBits));

  // The remaining offset bits span a complement of the vector that contains all lanes and warps.
  std::vector<uint64_t> known = vector;
  append(known, threads);
  std::vector<uint64_t> space = threads;
  append(space, complementBasis(known, totalBits));

  int64_t accessBytes = std::max<int64_t>(wordBytes, int64_t(elementBytes) << vector.size());
  // This is also the number of lane bits in a phase, because a phase accesses each bank once.
  unsigned bankBits = log2Of(bankLineBytes / accessBytes);
  std::vector<uint64_t> quiet = avoiding(space, phaseLanes(src, bankBits), phaseLanes(dst, bankBits));
  size_t quietBits = space.size() > bankBits ? space.size() - bankBits : 0;
  assert(quiet.size() >= quietBits && "a phase has no more lanes than there are banks");
  quiet.resize(quietBits);
  std::vector<uint64_t> banks = extension(quiet, space);

  size_t wordBits = log2Of(std::max<int64_t>(1, wordBytes / (int64_t(elementBytes) << vector.size())));
  size_t inWord = std::min(wordBits, quiet.size());
  std::vector<uint64_t> offsets = vector;
  offsets.insert(offsets.end(), quiet.begin(), quiet.begin() + inWord);
  append(offsets, banks);
  offsets.insert(offsets.end(), quiet.begin() + inWord, quiet.end());
  return LinearLayout::shared(std::move(offsets), src.outShape());
}

} // namespace tile::layout
