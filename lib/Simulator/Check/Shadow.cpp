// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/Shadow.h"

namespace tile::sim {

Shadow::Place Shadow::extend(Cell &cell) {
  blocks.push_back(std::make_unique<RecordBlock>());
  RecordBlock &block = *blocks.back();
  block.more = cell.more;
  cell.more = blocks.size();
  return {&block.masks[0], &block.manners[0], &block.records[0]};
}

} // namespace tile::sim
