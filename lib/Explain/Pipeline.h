// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the modelled timeline as a trace file.
#pragma once

#include "Explain/Evidence.h"

namespace tile::explain {

/// Returns trace events for Chrome and Perfetto ("Trace Event Format").
std::string makeTrace(const Evidence &evidence);

} // namespace tile::explain
