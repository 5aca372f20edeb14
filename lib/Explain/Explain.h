// `tilec explain`: one JSON document about a kernel, from a compilation and a simulated run, and the page that shows
// it.
//
//   PassRecord, RunRecord ──▶ Evidence ──▶ describe…() of each topic ──▶ document ──▶ page (Page/)
//
// README.md has the document's schema.
#pragma once

#include "Driver/Compilation.h"
#include "Runner/Options.h"

#include <nlohmann/json_fwd.hpp>

namespace tile::explain {

struct Explanation {
  std::string document; ///< JSON
  std::string trace;    ///< of Chrome and Perfetto; empty: nothing ran
};

struct ExplainRequest {
  driver::CompilerOptions compiler; ///< for the launch
  runner::RunOptions run;
  std::string whyNotRun; ///< nothing is to be simulated; for the page
};

/// An exit code on failure, which has been explained on `errors`.
std::optional<int> explain(const ExplainRequest &request, llvm::raw_ostream &errors, Explanation &made);

/// The document in a page that has everything inside.
std::string makePage(const std::string &document, const std::string &title);

} // namespace tile::explain
