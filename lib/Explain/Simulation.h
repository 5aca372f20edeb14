// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an artifact and a run to the document: all of it that needs no compiler.
#pragma once

#include "Explain/Evidence.h"
#include "Runner/Options.h"
#include "Runtime/Artifact.h"

#include <array>
#include <memory>

namespace tile::explain {

/// A run in the simulator, with all that it needs while it is looked at.
struct WatchedRun {
  std::optional<RunRecord> record;
  std::unique_ptr<runner::Device> device;
  std::array<int64_t, 3> programs = {1, 1, 1};
};

/// The artifact's kernel, once, on as many multiprocessors as the target's product has or `run` says.
runtime::Status simulate(const runner::RunOptions &run, const runtime::Artifact &artifact, const target::GpuTarget &gpu,
                         WatchedRun &watched);

struct Explanation {
  std::string document; ///< JSON
  std::string trace;    ///< of Chrome and Perfetto; empty: nothing ran
};

/// `evidence` without what is known of the run. `whyNotRun`: it has failed, or was not to be; else empty.
Explanation describe(Evidence evidence, const WatchedRun &watched, const runner::RunOptions &run,
                     std::string whyNotRun);

/// The document in a page that has everything inside.
std::string makePage(const std::string &document, const std::string &title);

} // namespace tile::explain
