// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions without a body that CUDA provides to kernels: printing, and termination after a failed assertion. CUDA
// programming guide, "Formatted Output" and "Assertion".
#pragma once

#include "Simulator/Exec/Decoding.h"
#include "Simulator/Machine/Machine.h"

namespace tile::sim {

/// Makes vprintf(format, buffer). The parameters are the local-memory addresses of the two arguments and of the result,
/// if there is one.
OperationPtr makePrint(uint32_t format, uint32_t buffer, std::vector<uint32_t> results);

/// Makes __assertfail(message, file, line, function, size of a character) from the local-memory addresses of the
/// arguments.
OperationPtr makeAssertFail(std::vector<uint32_t> arguments);

} // namespace tile::sim
