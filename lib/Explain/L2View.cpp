// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Describes the L2 cache lines that concurrent thread blocks share.
#include "Explain/Evidence.h"

#include <algorithm>

namespace tile::explain {
namespace {

constexpr int64_t maxCells = 32;        // per side of the map of an array
constexpr size_t maxIntegers = 200'000; // total size of the cell lists; keeps the page to a few megabytes

/// An array divided into cells whose sides are powers of two, as outputs are.
struct ArrayMap {
  const BufferView &view;
  int64_t rowsPerCell = 1, columnsPerCell = 1, rows, columns;

  explicit ArrayMap(const BufferView &view) : view(view) {
    while (rowsPerCell * maxCells < view.rows())
      rowsPerCell *= 2;
    while (columnsPerCell * maxCells < view.columns())
      columnsPerCell *= 2;
    rows = (view.rows() + rowsPerCell - 1) / rowsPerCell;
    columns = (view.columns() + columnsPerCell - 1) / columnsPerCell;
  }

  /// Returns the cells that contain part of the lines, as runs: [first, count, …].
  std::vector<uint32_t> cellsOf(const std::vector<uint32_t> &lines, uint64_t misalignment) const {
    std::vector<bool> isRead(rows * columns);
    const bool isDense = !view.strides.empty() && view.strides.back() == 1;
    for (const uint32_t line : lines) {
      const int64_t begin = int64_t(line * l2LineBytes) - int64_t(misalignment);
      const int64_t first = std::max<int64_t>(begin, 0) / view.elementBytes;
      const int64_t last = (begin + int64_t(l2LineBytes) - 1) / view.elementBytes;
      for (int64_t element = first; element <= last;
           element = element < last ? std::min(element + (isDense ? columnsPerCell : 1), last) : last + 1)
        if (const auto place = view.place(element))
          isRead[place->first / rowsPerCell * columns + place->second / columnsPerCell] = true;
    }
    std::vector<uint32_t> runs;
    for (size_t cell = 0; cell < isRead.size(); ++cell) {
      if (!isRead[cell])
        continue;
      if (cell == 0 || !isRead[cell - 1])
        runs.insert(runs.end(), {uint32_t(cell), 0});
      ++runs.back();
    }
    return runs;
  }
};

/// The cache lines that the blocks of a wave request: the number per block, summed over blocks, and the number of
/// distinct lines.
struct Wave {
  uint64_t reads = 0, lines = 0;
};

} // namespace

Json describeL2(const Evidence &evidence) {
  const RunRecord &run = *evidence.run;
  // The blocks of a persistent kernel are all resident from beginning to end.
  const uint64_t ctas = run.ctas(), atATime = evidence.manifest.launch.persistent ? ctas : slotsOf(evidence);
  std::vector<Wave> waves((ctas + atATime - 1) / std::max<uint64_t>(atATime, 1));
  Json arrays = Json::array();
  size_t integers = 0;
  for (size_t i = 0; i < run.views().size(); ++i) {
    const std::vector<LineSet> &sets = run.readLines(i);
    if (sets.empty() || run.views()[i].rows() <= 0 || run.views()[i].columns() <= 0)
      continue;
    const ArrayMap map(run.views()[i]);
    Json blocks = Json::array();
    std::vector<uint32_t> ofWave;
    for (uint64_t cta = 0; cta < ctas; ++cta) {
      const std::vector<uint32_t> lines = cta < sets.size() ? sets[cta].sorted() : std::vector<uint32_t>();
      Wave &wave = waves[cta / atATime];
      wave.reads += lines.size();
      ofWave.insert(ofWave.end(), lines.begin(), lines.end());
      if (cta + 1 == ctas || (cta + 1) % atATime == 0) {
        std::sort(ofWave.begin(), ofWave.end());
        wave.lines += uint64_t(std::unique(ofWave.begin(), ofWave.end()) - ofWave.begin());
        ofWave.clear();
      }
      if (integers > maxIntegers)
        continue;
      std::vector<uint32_t> cells = map.cellsOf(lines, run.misalignment(i));
      integers += cells.size() + 1;
      blocks.push_back(std::move(cells));
    }
    arrays.push_back({{"name", map.view.name},
                      {"rows", map.view.rows()},
                      {"columns", map.view.columns()},
                      {"rows_per_cell", map.rowsPerCell},
                      {"columns_per_cell", map.columnsPerCell},
                      {"cell_rows", map.rows},
                      {"cell_columns", map.columns},
                      {"blocks", std::move(blocks)}});
  }
  Json json = {{"line_bytes", l2LineBytes}, {"waves", Json::array()}, {"arrays", std::move(arrays)}};
  for (uint64_t wave = 0; wave < waves.size(); ++wave)
    json["waves"].push_back({{"thread_blocks", std::min(atATime, ctas - wave * atATime)},
                             {"reads", waves[wave].reads},
                             {"lines", waves[wave].lines}});
  return json;
}

} // namespace tile::explain
