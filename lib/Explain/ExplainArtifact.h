// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tile-run explain gemm.cubin M=512 -o gemm.html`: makes the parts of the page that do not need the compiler.
#pragma once

#include "Lab/Commands/Commands.h"

namespace tile::explain {

runner::Action addExplain(CLI::App &app, const runner::RunOptions &start);

} // namespace tile::explain
