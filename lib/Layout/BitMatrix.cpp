// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elimination over GF(2); see BitMatrix.h.

#include "Layout/BitMatrix.h"

#include <bit>
#include <cassert>

namespace tile::layout {

Span::Span(const std::vector<uint64_t> &vectors) {
  for (uint64_t vector : vectors)
    insert(vector);
}

Span::Reduced Span::reduce(uint64_t vector) const {
  Reduced result{vector, 0};
  uint64_t remaining = vector;
  while (remaining != 0) {
    unsigned leading = std::bit_width(remaining) - 1;
    const Reduced &pivot = pivots[leading];
    if (pivot.value != 0) {
      result.value ^= pivot.value;
      result.combination ^= pivot.combination;
    }
    // Bits above `leading` are final; bits below it may have changed.
    remaining = result.value & ((uint64_t(1) << leading) - 1);
  }
  return result;
}

bool Span::insert(uint64_t vector) {
  assert(numInserted < 64 && "a span remembers at most 64 generators");
  Reduced reduced = reduce(vector);
  unsigned index = numInserted++;
  if (reduced.value == 0)
    return false;
  reduced.combination ^= uint64_t(1) << index;
  pivots[std::bit_width(reduced.value) - 1] = reduced;
  ++numIndependent;
  return true;
}

std::optional<uint64_t> Span::express(uint64_t vector) const {
  Reduced reduced = reduce(vector);
  if (reduced.value != 0)
    return std::nullopt;
  return reduced.combination;
}

BitMatrix::BitMatrix(unsigned numRows, std::vector<uint64_t> columns)
    : rowCount(numRows), columnBits(std::move(columns)) {
  assert(numRows <= 64 && numColumns() <= 64 && "vectors have at most 64 bits");
  for ([[maybe_unused]] uint64_t column : columnBits)
    assert((numRows == 64 || column >> numRows == 0) && "column has bits beyond the last row");
}

uint64_t BitMatrix::apply(uint64_t x) const {
  uint64_t result = 0;
  for (; x != 0; x &= x - 1)
    result ^= columnBits[std::countr_zero(x)];
  return result;
}

unsigned BitMatrix::rank() const {
  return Span(columnBits).dimension();
}

std::vector<uint64_t> independentSubset(const std::vector<uint64_t> &vectors) {
  std::vector<uint64_t> result;
  Span span;
  for (uint64_t vector : vectors)
    if (span.insert(vector))
      result.push_back(vector);
  return result;
}

std::vector<uint64_t> intersectSpans(const std::vector<uint64_t> &first, const std::vector<uint64_t> &second) {
  // If a vector of `second` depends on `first` and on earlier vectors of `second`, then a + b = 0 for some a in
  // span(first) and b in span(second), so a lies in both spans. The vectors a that are found in this way generate the
  // intersection.
  std::vector<uint64_t> left = independentSubset(first);
  std::vector<uint64_t> right = independentSubset(second);
  std::vector<uint64_t> result;
  Span span(left);
  for (uint64_t vector : right) {
    std::optional<uint64_t> combination = span.express(vector);
    span.insert(vector);
    if (!combination)
      continue;
    uint64_t common = 0;
    for (size_t index = 0; index < left.size(); ++index)
      if (*combination >> index & 1)
        common ^= left[index];
    result.push_back(common);
  }
  return result;
}

std::vector<uint64_t> complementBasis(const std::vector<uint64_t> &vectors, unsigned numBits) {
  Span span(independentSubset(vectors));
  std::vector<uint64_t> result;
  for (unsigned bit = 0; bit < numBits; ++bit) {
    uint64_t unit = uint64_t(1) << bit;
    if (span.contains(unit))
      continue;
    span.insert(unit);
    result.push_back(unit);
  }
  return result;
}

} // namespace tile::layout
