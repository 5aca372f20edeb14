// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each task computes `taskRows` x `panel` elements of c. It packs the panel of b (k x 16) once, so the inner loop reads
// two contiguous streams and keeps a 4 x 16 block of accumulators in registers. Each accumulator adds its terms in the
// order of k, so results do not depend on the number of threads.
#include "Runner/Check/Matmul.h"

#include "Runner/Parallel.h"

#include <algorithm>
#include <atomic>
#include <vector>

#if defined(__x86_64__)
#define TILE_VECTOR_CLONES __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define TILE_VECTOR_CLONES
#endif

namespace tile::runner {
namespace {

constexpr int64_t panel = 16;
constexpr int64_t blockRows = 4;
constexpr int64_t taskRows = 128;

/// Computes result[4][16] = rows of a (with the given stride) times the packed panel.
TILE_VECTOR_CLONES void multiplyBlock(const double *a, int64_t rowStride, const double *packed, int64_t k,
                                      double *result) {
  double block[blockRows][panel] = {};
  for (int64_t i = 0; i < k; ++i)
    for (int64_t row = 0; row < blockRows; ++row) {
      const double factor = a[row * rowStride + i];
      for (int64_t column = 0; column < panel; ++column)
        block[row][column] += factor * packed[i * panel + column];
    }
  std::copy(&block[0][0], &block[0][0] + blockRows * panel, result);
}

} // namespace

void multiplyMatrices(const double *a, const double *b, double *c, int64_t m, int64_t n, int64_t k,
                      const Multiplied &multiplied) {
  const int64_t columnTasks = (n + panel - 1) / panel;
  const int64_t rowTasks = (m + taskRows - 1) / taskRows;
  std::atomic<bool> isStopped = false;
  parallelFor(columnTasks * rowTasks, 1, [&](int64_t begin, int64_t end) {
    if (isStopped)
      return;
    std::vector<double> packed(static_cast<size_t>(k * panel));
    std::vector<double> lastRows(static_cast<size_t>(k * blockRows));
    for (int64_t task = begin; task < end; ++task) {
      const int64_t column = task / rowTasks * panel;
      const int64_t columns = std::min(panel, n - column);
      for (int64_t i = 0; i < k; ++i)
        for (int64_t j = 0; j < panel; ++j)
          packed[i * panel + j] = j < columns ? b[i * n + column + j] : 0;
      const int64_t firstRow = task % rowTasks * taskRows;
      for (int64_t row = firstRow; row < std::min(m, firstRow + taskRows); row += blockRows) {
        const int64_t rows = std::min(blockRows, m - row);
        const double *source = a + row * k;
        if (rows < blockRows) { // multiplyBlock() reads four rows, so pad to four
          std::fill(lastRows.begin(), lastRows.end(), 0);
          std::copy(source, source + rows * k, lastRows.begin());
          source = lastRows.data();
        }
        double result[blockRows * panel];
        multiplyBlock(source, k, packed.data(), k, result);
        for (int64_t r = 0; r < rows; ++r)
          std::copy(result + r * panel, result + r * panel + columns, c + (row + r) * n + column);
      }
      const int64_t done = std::min(m, firstRow + taskRows) - firstRow;
      if (multiplied && !multiplied(2.0 * double(done) * double(columns) * double(k)))
        isStopped = true;
    }
  });
}

} // namespace tile::runner
