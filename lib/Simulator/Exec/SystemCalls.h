// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that CUDA provides to kernels without a body: printing, and termination after a failed assertion. CUDA
// programming guide, "Formatted Output" and "Assertion".
#pragma once

#include "Simulator/Exec/Decoding.h"
#include "Simulator/Machine/Machine.h"

namespace tile::sim {

/// vprintf(format, buffer): the two local-memory addresses that hold the arguments, and that of the result, if any.
OperationPtr makePrint(uint32_t format, uint32_t buffer, std::vector<uint32_t> results);

/// __assertfail(message, file, line, function, size of a character): local-memory addresses of the arguments.
OperationPtr makeAssertFail(std::vector<uint32_t> arguments);

} // namespace tile::sim
