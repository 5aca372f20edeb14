// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The time line as a file.
#pragma once

#include "Explain/Evidence.h"

namespace tile::explain {

/// Trace events as Chrome and Perfetto read them ("Trace Event Format").
std::string makeTrace(const Evidence &evidence);

} // namespace tile::explain
