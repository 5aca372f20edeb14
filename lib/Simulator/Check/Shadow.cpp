// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Check/Shadow.h"

namespace tile::sim {

Shadow::Entry Shadow::extend(Cell &cell) {
  if (numBlocks == blocks.size() * blocksAtOnce)
    blocks.push_back(std::make_unique<std::array<RecordBlock, blocksAtOnce>>());
  RecordBlock &block = blockAt(++numBlocks);
  block.more = cell.more;
  cell.more = numBlocks;
  return {&block.masks[0], &block.manners[0], &block.records[0]};
}

} // namespace tile::sim
