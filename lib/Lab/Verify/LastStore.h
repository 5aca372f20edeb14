// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the instruction that wrote an element, by running the call again in the simulator. If the element differs on a
// GPU, this is the last instruction that can have caused the difference.
#pragma once

#include "Lab/Verify/Agreement.h"
#include "Lab/Verify/TestedVariant.h"

namespace tile::runner {

/// Returns "st.global.v4.b32 at ptx:120 (softmax.tile:12:5) by warp 1 of block 3" for the element of a difference; ""
/// if the simulated run does not write it. Fails if the call cannot be run.
Result<std::string> findLastStore(const TestedVariant &variant, const Difference &difference, const RunOptions &options,
                                  int multiprocessors);

} // namespace tile::runner
