// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator's counters as the runner shows them: beside the kernel's source, with the occupancy that the manifest
// implies, and as JSON.
#pragma once

#include "Runner/Results/Sources.h"
#include "Runtime/Manifest.h"
#include "Simulator/Profile/Profiler.h"

namespace tile::runner {

/// The source, as far as its file is found, with a row of counters for each line; bad ones in colour if it `isPainted`.
std::string profileText(const sim::Profiler &profiler, const sim::Module &module, const runtime::Manifest &manifest,
                        Sources sources, bool isPainted);

/// Appends one line: {"kernel": ..., "source": ..., "total": {...}, "occupancy": {...}, "lines": [...]}
runtime::Status appendProfile(const sim::Profiler &profiler, const sim::Module &module,
                              const runtime::Manifest &manifest, const std::string &path);

} // namespace tile::runner
