// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Converts the times recorded by a kernel compiled with --instrument to a timeline.
#pragma once

#include "Runner/Inputs/HostBuffer.h"
#include "Runtime/Manifest.h"

namespace tile::runner {

/// Returns trace events for Chrome and Perfetto ("Trace Event Format"): a process for each CTA, a thread for each warp.
std::string timeTrace(const runtime::Manifest &manifest, const HostBuffer &times);

} // namespace tile::runner
