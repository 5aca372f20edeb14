// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text → Module. Reads what LLVM, nvcc and inline assembly produce.
#pragma once

#include "Runtime/Result.h"
#include "Simulator/Ptx/Module.h"

namespace tile::sim {

/// The error names the line: `line 12: unknown directive '.foo'`. `text` need not outlive the module.
runtime::Result<Module> parsePtx(std::string_view text);

} // namespace tile::sim
