// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the document from an artifact and a run: all parts that do not need the compiler.
#pragma once

#include "Explain/Evidence.h"
#include "Runner/Options.h"
#include "Runtime/Artifact.h"

#include <array>
#include <memory>

namespace tile::explain {

/// A simulated run, with the objects that must outlive its examination.
struct WatchedRun {
  std::optional<RunRecord> record;
  std::unique_ptr<runner::Device> device;
  std::array<int64_t, 3> programs = {1, 1, 1};
};

/// Simulates the artifact's kernel once, on as many multiprocessors as the target's GPU has or `run` specifies.
runtime::Status simulate(const runner::RunOptions &run, const runtime::Artifact &artifact, const target::GpuTarget &gpu,
                         WatchedRun &watched);

struct Explanation {
  std::string document; ///< JSON
  std::string trace;    ///< for Chrome and Perfetto; empty: the kernel did not run
};

/// Adds the data of the run to `evidence`, and makes the document. `whyNotRun` is the reason why the run failed or was
/// skipped; otherwise it is empty.
Explanation describe(Evidence evidence, const WatchedRun &watched, const runner::RunOptions &run,
                     std::string whyNotRun);

/// Returns a self-contained page with the document.
std::string makePage(const std::string &document, const std::string &title);

} // namespace tile::explain
