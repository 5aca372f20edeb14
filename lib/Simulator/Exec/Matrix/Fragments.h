// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the elements of a matrix live in the registers of a warp. PTX ISA 9.7.14.5 (mma.sync fragments) and 9.7.15.5
// (wgmma) draw one figure for each shape and type; all of them are the same three formulas in the number of elements
// that a register holds.
//
//   lane = 4 * group + member      register r of A: row group + 8 * (r % 2), columns 4 * E * (r / 2) + E * member + 0 …
//   E-1
//                                  register r of B: column group, rows       4 * E * r       + E * member + 0 … E-1
//   element i of C and D:          row group + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * member + i % 2
//
// E is 32 / bits of the element (1 for f64). A matrix of 8 rows has only the even registers of A.
#pragma once

#include <cstdint>

namespace tile::sim::matrix {

struct Position {
  unsigned row = 0;
  unsigned column = 0;
  bool operator==(const Position &) const = default;
};

/// First element of register `index` of the left operand of 16 rows (or of 8: `rows`).
constexpr Position leftPosition(unsigned lane, unsigned index, unsigned perRegister, unsigned rows = 16) {
  unsigned half = rows == 16 ? index % 2 : 0;
  unsigned block = rows == 16 ? index / 2 : index;
  return {lane / 4 + 8 * half, (4 * block + lane % 4) * perRegister};
}

/// First element of register `index` of the right operand; its elements follow each other along the rows (depth).
constexpr Position rightPosition(unsigned lane, unsigned index, unsigned perRegister) {
  return {(4 * index + lane % 4) * perRegister, lane / 4};
}

/// Element `index` of the accumulator of 16 rows (8 rows: only the elements 0 and 1). Two f16 share a register.
constexpr Position accumulatorPosition(unsigned lane, unsigned index) {
  return {lane / 4 + 8 * (index / 2 % 2), 8 * (index / 4) + 2 * (lane % 4) + index % 2};
}

} // namespace tile::sim::matrix
