// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix in shared memory, as a tcgen05 descriptor describes it: chunks of 16 bytes, whose positions
// Exec/Matrix/Descriptor.h defines. PTX ISA 9.7.16.4.1, 9.7.16.5.
#pragma once

#include "Simulator/Exec/Matrix/Descriptor.h"
#include "Simulator/Exec/Tensor/Pipe.h"

#include <vector>

namespace tile::sim::tensor {

constexpr unsigned chunkBytes = 16;

/// A matrix of `lines` lines (rows of the left operand, or columns of the right one) of `depth` elements. A chunk
/// contains `perChunk` elements: consecutive elements of one line or, if the matrix is line-major, elements of
/// consecutive lines for one k.
struct SharedMatrix {
  matrix::Descriptor descriptor{0};
  bool isLineMajor = false;
  unsigned lines = 0, depth = 0, perChunk = 1;

  /// Calls `function(address, line, k)` for each chunk, with the chunk's first line and k.
  template <typename Function> void forChunks(Function &&function) const {
    const unsigned lineStep = isLineMajor ? perChunk : 1, depthStep = isLineMajor ? 1 : perChunk;
    for (unsigned line = 0; line < lines; line += lineStep)
      for (unsigned k = 0; k < depth; k += depthStep)
        function(isLineMajor ? descriptor.chunkAddress(true, k, line / perChunk)
                             : descriptor.chunkAddress(false, line, k / perChunk),
                 line, k);
  }
};

/// Returns the decoded descriptor, or nullopt after a report if its fixed bits are wrong.
std::optional<matrix::Descriptor> takeDescriptor(Warp &warp, unsigned lane, const Instruction &instruction,
                                                 uint64_t bits, std::string_view what);

/// Checks that all chunks are in the CTA's shared memory, and informs the checker that the tensor core reads them.
/// Returns false after a report.
bool checkShared(Warp &warp, unsigned lane, const Instruction &instruction, Cta &cta, const SharedMatrix &matrix,
                 std::string_view what);

} // namespace tile::sim::tensor
