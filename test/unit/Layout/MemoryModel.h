// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shared memory as the hardware sees it, written without the layout algebra: bank conflicts by counting words, ldmatrix
// by moving rows. The tests compare the algebra with these.
#pragma once

#include "Layout/Access.h"
#include "RandomLayouts.h"

#include <array>
#include <set>

namespace tile::layout::test {

/// Returns the wavefronts beyond one per phase for the accesses of one warp: addresses[lane] in bytes, `bytes` accessed
/// by each lane.
inline int64_t countConflicts(const std::array<int64_t, 32> &addresses, int64_t bytes) {
  int64_t phaseLanes = bytes <= 4 ? 32 : 128 / bytes, extra = 0;
  for (int64_t first = 0; first < 32; first += phaseLanes) {
    std::array<std::set<int64_t>, 32> wordsOfBank;
    for (int64_t lane = first; lane < first + phaseLanes; ++lane)
      for (int64_t byte = addresses[lane]; byte < addresses[lane] + bytes; ++byte)
        wordsOfBank[byte / 4 % 32].insert(byte / 4);
    size_t wavefronts = 0;
    for (const std::set<int64_t> &words : wordsOfBank)
      wavefronts = std::max(wavefronts, words.size());
    extra += static_cast<int64_t>(wavefronts) - 1;
  }
  return extra;
}

/// Returns the maximum number of conflicts of any access of a plan, by counting.
inline int64_t worstConflicts(const VectorAccess &access, unsigned elementBytes) {
  int64_t worst = 0;
  const LinearLayout &addresses = access.addresses;
  for (int64_t warp = 0; warp < addresses.numWarps(); ++warp)
    for (int64_t index = 0; index < addresses.numRegisters(); ++index) {
      std::array<int64_t, 32> bytes;
      for (int64_t lane = 0; lane < 32; ++lane)
        bytes[lane] = static_cast<int64_t>(flatAt(addresses, index, lane, warp)) * elementBytes;
      worst = std::max(worst, countConflicts(bytes, int64_t(elementBytes) * access.elements));
    }
  return worst;
}

/// The 32-bit registers that ldmatrix fills: for [matrix][lane], the byte addresses of the two 16-bit units.
/// `rows[lane]` is the byte address that the lane supplies.
using MatrixUnits = std::array<std::array<std::array<int64_t, 2>, 32>, 4>;
inline MatrixUnits loadMatrices(const std::array<int64_t, 32> &rows, unsigned matrices, bool transposed) {
  MatrixUnits result = {};
  for (unsigned matrix = 0; matrix < matrices; ++matrix)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t half : {0, 1}) {
        int64_t row = transposed ? lane % 4 * 2 + half : lane / 4;
        int64_t column = transposed ? lane / 4 : lane % 4 * 2 + half;
        result[matrix][lane][half] = rows[8 * matrix + row] + 2 * column;
      }
  return result;
}

} // namespace tile::layout::test
