// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The positions of matrix elements in the registers of a warp. PTX ISA 9.7.14.5 (mma.sync fragments) and 9.7.15.5
// (wgmma) have a figure for each shape and type. All figures follow three formulas, in which E is the number of
// elements per register:
//
//   lane = 4 * group + member
//   register r of A:       row group + 8 * (r % 2),      columns 4 * E * (r / 2) + E * member + 0 … E-1
//   register r of B:       column group,                 rows    4 * E * r       + E * member + 0 … E-1
//   element i of C and D:  row group + 8 * (i / 2 % 2),  column  8 * (i / 4) + 2 * member + i % 2
//
// E is 32 / (bits per element), or 1 for f64. A matrix of 8 rows has only the registers of A with even r.
#pragma once

#include <cstdint>

namespace tile::sim::matrix {

struct Position {
  unsigned row = 0;
  unsigned column = 0;
  bool operator==(const Position &) const = default;
};

/// Returns the position of the first element of register `index` of the left operand, which has 16 or 8 rows (`rows`).
constexpr Position leftPosition(unsigned lane, unsigned index, unsigned perRegister, unsigned rows = 16) {
  unsigned half = rows == 16 ? index % 2 : 0;
  unsigned block = rows == 16 ? index / 2 : index;
  return {lane / 4 + 8 * half, (4 * block + lane % 4) * perRegister};
}

/// Returns the position of the first element of register `index` of the right operand. The elements of a register are
/// consecutive along the rows (depth).
constexpr Position rightPosition(unsigned lane, unsigned index, unsigned perRegister) {
  return {(4 * index + lane % 4) * perRegister, lane / 4};
}

/// Returns the position of element `index` of a 16-row accumulator; one with 8 rows has only the elements 0 and 1. Two
/// f16 elements share a register.
constexpr Position accumulatorPosition(unsigned lane, unsigned index) {
  return {lane / 4 + 8 * (index / 2 % 2), 8 * (index / 4) + 2 * (lane % 4) + index % 2};
}

} // namespace tile::sim::matrix
