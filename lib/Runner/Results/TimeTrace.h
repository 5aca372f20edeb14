// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The times that a kernel compiled with --instrument has recorded, as a time line.
#pragma once

#include "Runner/Inputs/HostBuffer.h"
#include "Runtime/Manifest.h"

namespace tile::runner {

/// Trace events as Chrome and Perfetto read them ("Trace Event Format"): a process for each CTA, a thread for each
/// warp.
std::string timeTrace(const runtime::Manifest &manifest, const HostBuffer &times);

} // namespace tile::runner
