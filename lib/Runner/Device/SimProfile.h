// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Formats the simulator's counters as text, next to the kernel's source and with the occupancy computed from the
// manifest, and as JSON.
#pragma once

#include "Runner/Results/Sources.h"
#include "Runtime/Manifest.h"
#include "Simulator/Profile/Profiler.h"

namespace tile::runner {

/// Returns the source, if its file is found, with a row of counters for each line. Bad values are highlighted if
/// `isPainted`.
std::string profileText(const sim::Profiler &profiler, const sim::Module &module, const runtime::Manifest &manifest,
                        Sources sources, bool isPainted);

/// Appends one line to the file `path`: {"kernel": ..., "source": ..., "total": {...}, "occupancy": {...}, "lines":
/// [...]}.
runtime::Status appendProfile(const sim::Profiler &profiler, const sim::Module &module,
                              const runtime::Manifest &manifest, const std::string &path);

} // namespace tile::runner
