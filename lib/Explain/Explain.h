// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec explain`: makes one JSON document about a kernel from a compilation and a simulated run, and the page that
// shows the document.
//
//   PassRecord, RunRecord ──▶ Evidence ──▶ describe…() of each topic ──▶ document ──▶ page (Page/)
//
// README.md describes the schema of the document.
#pragma once

#include "Driver/Compilation.h"
#include "Explain/Simulation.h"
#include "Runner/Options.h"

namespace tile::explain {

struct ExplainRequest {
  driver::CompilerOptions compiler; ///< options for the launch
  runner::RunOptions run;
  std::string whyNotRun; ///< if not empty, the reason why the kernel is not simulated, which the page shows
};

/// Makes the explanation. On failure, reports to `errors` and returns an exit code; otherwise returns nullopt.
std::optional<int> explain(const ExplainRequest &request, llvm::raw_ostream &errors, Explanation &made);

} // namespace tile::explain
