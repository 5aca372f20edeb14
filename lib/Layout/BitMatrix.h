// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear algebra over GF(2) on vectors of at most 64 bits: a vector is a uint64_t, a matrix a list of columns.
//
//   y = A x        y is the XOR of the columns of A selected by the bits of x
//
// `Span` is the only elimination routine. Vectors are inserted in order, and a vector is kept if it is independent of
// the earlier ones. Any vector of the span can be expressed as a combination of kept vectors. Inserting the columns of
// a matrix from bit 0 up therefore makes `express` return the numerically lowest preimage. Rank, intersection and
// complement are computed with `Span`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tile::layout {

/// A subspace of GF(2)^64 that records the vectors from which it was generated.
class Span {
public:
  Span() = default;
  explicit Span(const std::vector<uint64_t> &vectors);

  /// Adds a vector; returns true if it is independent of the vectors that were inserted before.
  bool insert(uint64_t vector);

  bool contains(uint64_t vector) const { return reduce(vector).value == 0; }

  /// Returns the set of inserted vectors (bit i stands for the i-th inserted vector) whose XOR is `vector`; nullopt if
  /// `vector` is outside the span. Uses only vectors that were independent when they were inserted.
  std::optional<uint64_t> express(uint64_t vector) const;

  unsigned dimension() const { return numIndependent; }

private:
  struct Reduced {
    uint64_t value = 0;
    uint64_t combination = 0;
  };
  Reduced reduce(uint64_t vector) const;

  std::array<Reduced, 64> pivots = {}; // indexed by leading bit; a value of 0 means that there is none
  unsigned numInserted = 0;
  unsigned numIndependent = 0;
};

class BitMatrix {
public:
  BitMatrix() = default;
  BitMatrix(unsigned numRows, std::vector<uint64_t> columns);

  unsigned numRows() const { return rowCount; }
  unsigned numColumns() const { return static_cast<unsigned>(columnBits.size()); }
  uint64_t column(unsigned index) const { return columnBits[index]; }
  const std::vector<uint64_t> &columns() const { return columnBits; }

  uint64_t apply(uint64_t x) const;
  bool operator==(const BitMatrix &other) const = default;

  unsigned rank() const;
  bool isSurjective() const { return rank() == numRows(); }
  bool isInjective() const { return rank() == numColumns(); }

private:
  unsigned rowCount = 0;
  std::vector<uint64_t> columnBits;
};

/// Returns a basis of span(first) ∩ span(second).
std::vector<uint64_t> intersectSpans(const std::vector<uint64_t> &first, const std::vector<uint64_t> &second);

/// Returns unit vectors among the lowest `numBits` bits that extend span(vectors) to the whole space.
std::vector<uint64_t> complementBasis(const std::vector<uint64_t> &vectors, unsigned numBits);

/// Returns the vectors with the lowest indices that generate the same span as all `vectors`.
std::vector<uint64_t> independentSubset(const std::vector<uint64_t> &vectors);

} // namespace tile::layout
