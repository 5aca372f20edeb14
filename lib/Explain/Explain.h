// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `tilec explain`: one JSON document about a kernel, from a compilation and a simulated run, and the page that shows
// it.
//
//   PassRecord, RunRecord ──▶ Evidence ──▶ describe…() of each topic ──▶ document ──▶ page (Page/)
//
// README.md has the document's schema.
#pragma once

#include "Driver/Compilation.h"
#include "Explain/Simulation.h"
#include "Runner/Options.h"

namespace tile::explain {

struct ExplainRequest {
  driver::CompilerOptions compiler; ///< for the launch
  runner::RunOptions run;
  std::string whyNotRun; ///< nothing is to be simulated; for the page
};

/// An exit code on failure, which has been explained on `errors`.
std::optional<int> explain(const ExplainRequest &request, llvm::raw_ostream &errors, Explanation &made);

} // namespace tile::explain
