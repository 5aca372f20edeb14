// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Simulator/Exec/Arithmetic/Video.h"

namespace tile::sim {

std::span<const DecoderEntry> arithmeticDecoders() {
  static const std::vector<DecoderEntry> all = [] {
    std::vector<DecoderEntry> entries;
    for (std::span<const DecoderEntry> part : {integerDecoders(), carryDecoders(), bitDecoders(), floatDecoders(),
                                               approximateDecoders(), scalarVideoDecoders(), simdVideoDecoders()})
      entries.insert(entries.end(), part.begin(), part.end());
    return entries;
  }();
  return all;
}

} // namespace tile::sim
