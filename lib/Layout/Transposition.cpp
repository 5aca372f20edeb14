// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds the layout of a transposition; see Transposition.h.
#include "Layout/Transposition.h"
#include "Layout/SharedLayouts.h"

#include <algorithm>
#include <bit>

namespace tile::layout {

static constexpr int64_t maxColumns = 4; // elements per thread: a word of 8-bit elements, or a chunk of 32-bit elements

/// Returns stride * first, stride * 2 * first, stride * 4 * first, … for indices below `end`.
static std::vector<uint64_t> listSteps(int64_t first, int64_t end, int64_t stride) {
  std::vector<uint64_t> steps;
  for (; first < end; first *= 2)
    steps.push_back(uint64_t(first * stride));
  return steps;
}

/// Moves bases from the front of `from` to the end of `to`, until `to` has `size` bases.
static void moveSteps(std::vector<uint64_t> &from, std::vector<uint64_t> &to, size_t size) {
  size_t count = std::min(from.size(), size - std::min(size, to.size()));
  to.insert(to.end(), from.begin(), from.begin() + count);
  from.erase(from.begin(), from.begin() + count);
}

LinearLayout planTransposition(const std::vector<int64_t> &shape, unsigned elementBytes, unsigned from,
                               int64_t numWarps) {
  const unsigned to = 1 - from;
  const int64_t threads = numWarps << laneBits, elements = std::max<int64_t>(shape[0] * shape[1] / threads, 1);
  const int64_t rows = std::min({chunkBytes / elementBytes, shape[to], elements}),
                columns = std::min({maxColumns, shape[from], elements / rows});
  const int64_t strides[] = {shape[1], 1};
  std::vector<uint64_t> registers = listSteps(1, rows, strides[to]), lanes, warps;
  std::vector<uint64_t> across = listSteps(1, columns, strides[from]);
  registers.insert(registers.end(), across.begin(), across.end());

  const int64_t line = std::min<int64_t>(shape[from], bankLineBytes / elementBytes);
  std::vector<uint64_t> inLine = listSteps(columns, line, strides[from]),
                        beyond = listSteps(std::max(columns, line), shape[from], strides[from]),
                        along = listSteps(rows, shape[to], strides[to]);
  const std::vector<uint64_t> diagonal = along;
  const size_t walked = std::min<size_t>(inLine.size(), laneBits), warpBits = std::countr_zero(uint64_t(numWarps));
  for (std::vector<uint64_t> *steps : {&inLine, &along, &beyond})
    moveSteps(*steps, lanes, laneBits);
  for (size_t bit = 1; bit < walked && bit <= diagonal.size() && bit <= 2; ++bit)
    lanes[bit] ^= diagonal[bit - 1];
  for (std::vector<uint64_t> *steps : {&inLine, &along, &beyond})
    moveSteps(*steps, warps, warpBits);
  for (std::vector<uint64_t> *steps : {&inLine, &along, &beyond})
    registers.insert(registers.end(), steps->begin(), steps->end());
  lanes.resize(laneBits);
  warps.resize(warpBits);
  return LinearLayout::distributed(std::move(registers), std::move(lanes), std::move(warps), shape);
}

} // namespace tile::layout
