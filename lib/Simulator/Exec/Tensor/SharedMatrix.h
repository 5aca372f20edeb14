// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix in shared memory as a descriptor of tcgen05 describes it: chunks of 16 bytes. Exec/Matrix/Descriptor.h says
// where they lie; PTX ISA 9.7.16.4.1, 9.7.16.5.
#pragma once

#include "Simulator/Exec/Matrix/Descriptor.h"
#include "Simulator/Exec/Tensor/Pipe.h"

#include <vector>

namespace tile::sim::tensor {

constexpr unsigned chunkBytes = 16;

/// `lines` (rows of the left factor, columns of the right one) of `depth` elements, of which a chunk holds `perChunk`:
/// of one line, or if it is line-major, of consecutive lines for one k.
struct SharedMatrix {
  matrix::Descriptor descriptor{0};
  bool isLineMajor = false;
  unsigned lines = 0, depth = 0, perChunk = 1;

  /// Calls `function(address, line, k)` for each chunk, with its first line and k.
  template <typename Function> void forChunks(Function &&function) const {
    const unsigned lineStep = isLineMajor ? perChunk : 1, depthStep = isLineMajor ? 1 : perChunk;
    for (unsigned line = 0; line < lines; line += lineStep)
      for (unsigned k = 0; k < depth; k += depthStep)
        function(isLineMajor ? descriptor.chunkAddress(true, k, line / perChunk)
                             : descriptor.chunkAddress(false, line, k / perChunk),
                 line, k);
  }
};

/// The descriptor, if its fixed bits are right. Nothing after a report.
std::optional<matrix::Descriptor> takeDescriptor(Warp &warp, unsigned lane, const Instruction &instruction,
                                                 uint64_t bits, std::string_view what);

/// Whether all chunks are in the shared memory of the CTA; tells the checker that the tensor core reads them. False
/// after a report.
bool checkShared(Warp &warp, unsigned lane, const Instruction &instruction, Cta &cta, const SharedMatrix &matrix,
                 std::string_view what);

} // namespace tile::sim::tensor
