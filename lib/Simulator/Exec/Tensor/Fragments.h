// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The positions in tensor memory of the registers of tcgen05.ld and st, relative to the first lane and column of the
// access. PTX ISA 9.7.16.2.3.1.
//
//   shape     lanes  registers of .x1  register r of thread t: lane                     column
//   .32x32b    32     1                t                                                r
//   .16x64b    16     1                t/4 + 8 * (t%2)                                  2 * r + t/2%2
//   .16x128b   16     2                t/4 + 8 * (r%2)                                  4 * (r/2) + t%4
//   .16x256b   16     4                t/4 + 8 * (r/2%2)                                8 * (r/4) + 2 * (t%4) + r%2
//   .16x32bx2  16     1                t%16                                             r, plus `split` if t >= 16
//
// With .pack::16b (.unpack::16b), a register contains the lower halves of two adjacent columns.
#pragma once

#include <cstdint>

namespace tile::sim::tensor {

enum class Shape : uint8_t { L32x32, L16x64, L16x128, L16x256, L16x32x2 };

constexpr unsigned lanesOf(Shape shape) {
  return shape == Shape::L32x32 ? 32 : 16;
}
/// Returns the number of registers of a thread for .x1. The suffix .num multiplies it; the product is at most 128.
constexpr unsigned registersOf(Shape shape) {
  return shape == Shape::L16x128 ? 2 : shape == Shape::L16x256 ? 4 : 1;
}
constexpr unsigned mostRegisters = 128;

struct Cell {
  unsigned lane = 0, column = 0;
  bool operator==(const Cell &) const = default;
};

constexpr Cell cellOf(Shape shape, unsigned thread, unsigned reg) {
  switch (shape) {
  case Shape::L32x32:
    return {thread, reg};
  case Shape::L16x64:
    return {thread / 4 + 8 * (thread % 2), 2 * reg + thread / 2 % 2};
  case Shape::L16x128:
    return {thread / 4 + 8 * (reg % 2), 4 * (reg / 2) + thread % 4};
  case Shape::L16x256:
    return {thread / 4 + 8 * (reg / 2 % 2), 8 * (reg / 4) + 2 * (thread % 4) + reg % 2};
  case Shape::L16x32x2:
    return {thread % 16, reg};
  }
  return {};
}

/// Returns the number of 32-bit columns from the first to the last one that is accessed, where each register is one
/// cell.
constexpr unsigned columnsOf(Shape shape, unsigned registers) {
  return shape == Shape::L32x32 || shape == Shape::L16x32x2 ? registers : 2 * registers;
}

} // namespace tile::sim::tensor
