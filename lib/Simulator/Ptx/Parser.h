// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parses PTX text into a Module. Accepts the PTX that LLVM, nvcc and inline assembly produce.
#pragma once

#include "Runtime/Result.h"
#include "Simulator/Ptx/Module.h"

namespace tile::sim {

/// Parses a module. An error names the line: `line 12: unknown directive '.foo'`. `text` need not outlive the module.
runtime::Result<Module> parsePtx(std::string_view text);

} // namespace tile::sim
