// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implements OperandOrders.h.
#include "Target/Plan/OperandOrders.h"

namespace tile::target {

bool gainsBySwap(int64_t rows) {
  return rows < int64_t(wgmmaRows) || (rows & (rows - 1)) != 0;
}

BlockSources sourcesInOrder(const BlockOrders &orders) {
  constexpr unsigned halfBits = 16, wordBits = 32;
  BlockSources sources;
  if (orders.bits != halfBits && !orders.aKMajor)
    sources.a = orders.bits == wordBits ? OperandSource::Registers : OperandSource::Transposed;
  if (orders.bits != halfBits && !orders.bKMajor)
    sources.b = OperandSource::Transposed;
  return sources;
}

BlockSources sourcesSwapped(const BlockOrders &orders) {
  return sourcesInOrder({orders.bits, orders.bKMajor, orders.aKMajor});
}

bool swapSavesTransposition(const BlockOrders &orders) {
  BlockSources swapped = sourcesSwapped(orders);
  return sourcesInOrder(orders).b == OperandSource::Transposed && swapped.a == OperandSource::Registers &&
         swapped.b != OperandSource::Transposed;
}

} // namespace tile::target
