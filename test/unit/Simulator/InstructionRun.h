// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table's kernels on the simulator, and results compared with a GPU's.
#pragma once

#include "InstructionTable.h"
#include "RunPtx.h"

namespace tile::sim {

/// Returns the results of a case, which has `count` slots.
runtime::Result<std::vector<uint64_t>> simulate(const InstructionCase &instruction);

/// Returns true if a result is the expected one, or within the bound; for packed types each part.
bool isClose(const InstructionCase &instruction, uint64_t expected, uint64_t actual);

/// Returns the recorded form of a case's results: the bytes of summary().
std::vector<uint8_t> record(const InstructionCase &instruction, const std::vector<uint64_t> &results);

} // namespace tile::sim
