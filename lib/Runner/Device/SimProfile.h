// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats the simulator's counters: alongside the kernel's source, with the occupancy that the manifest implies, and as
// JSON.
#pragma once

#include "Runner/Results/Sources.h"
#include "Runtime/Manifest.h"
#include "Simulator/Profile/Profiler.h"

namespace tile::runner {

/// Returns the source, if its file is found, with a row of counters for each line; bad values are coloured if
/// `isPainted`.
std::string profileText(const sim::Profiler &profiler, const sim::Module &module, const runtime::Manifest &manifest,
                        Sources sources, bool isPainted);

/// Appends one line: {"kernel": ..., "source": ..., "total": {...}, "occupancy": {...}, "lines": [...]}.
runtime::Status appendProfile(const sim::Profiler &profiler, const sim::Module &module,
                              const runtime::Manifest &manifest, const std::string &path);

} // namespace tile::runner
