// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps each part of each output to the thread block that computes it. Blocks are numbered in launch order and grouped
// by waves on the target's GPU.
#include "Explain/Evidence.h"

namespace tile::explain {

Json describeGrid(const Evidence &evidence) {
  const runtime::LaunchInfo &launch = evidence.manifest.launch;
  const std::array<int64_t, 3> &programs = evidence.programs;
  const uint64_t all = uint64_t(programs[0]) * programs[1] * programs[2];
  const uint64_t slots = slotsOf(evidence), blocks = evidence.run ? evidence.run->ctas() : 0;
  const double waves = double(all) / double(slots);
  Json json = {{"programs", programs},
               {"cluster", {launch.cluster[0], launch.cluster[1], launch.cluster[2]}},
               {"persistent", launch.persistent},
               {"thread_blocks", blocks},
               {"multiprocessors", evidence.multiprocessors},
               {"at_a_time", slots},
               {"waves", waves},
               {"tail_efficiency", waves > 0 ? waves / double((all + slots - 1) / slots) : 1.0},
               {"outputs", Json::array()}};
  if (!evidence.run)
    return json;
  for (const OutputMap &map : evidence.run->outputs()) {
    const BufferView &view = evidence.run->views()[map.buffer];
    Json ctas = Json::array(), orders = Json::array();
    for (const Cell &cell : map.cells) {
      ctas.push_back(cell.cta);
      orders.push_back(cell.order);
    }
    json["outputs"].push_back({{"name", view.name},
                               {"rows", view.rows()},
                               {"columns", view.columns()},
                               {"rows_per_cell", map.rowsPerCell},
                               {"columns_per_cell", map.columnsPerCell},
                               {"cell_rows", map.rows},
                               {"cell_columns", map.columns},
                               {"ctas", std::move(ctas)},
                               {"orders", std::move(orders)}});
  }
  json["l2"] = describeL2(evidence);
  return json;
}

} // namespace tile::explain
