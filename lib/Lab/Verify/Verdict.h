// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The result of verifying one variant, as text and as JSON.
#pragma once

#include "Runner/Options.h"

#include <nlohmann/json_fwd.hpp>

namespace tile::runner {

struct Verdict {
  std::string variant; ///< name of the variant; empty if it is the only one
  std::string target;
  uint64_t runs = 0, planned = 0; ///< number of runs in the simulator, or of compared calls
  bool isCached = false;          ///< true if an earlier command has run everything
  size_t instructions = 0, reached = 0;
  std::vector<std::string> unreached; ///< instructions that no run reached: "st.global.v4.b32 at ptx:120 (k.tile:9)"
  std::string required;               ///< the required agreement, and the reason: "within 0.001 (ex2.approx)"; or ""
  std::string note;
  std::string problem; ///< the problem that was found; empty if there is none
  std::string command; ///< command that reproduces it
  std::string equal;   ///< why the results are known to be equal without a run
  std::string skipped; ///< why the variant was not run

  bool isComplete() const { return runs >= planned && skipped.empty(); }
};

/// Returns lines that begin with the variant's name, padded to `width`. `unit`: "run" or "call".
std::string formatVerdict(const Verdict &verdict, size_t width, std::string_view unit);
nlohmann::ordered_json verdictToJson(const Verdict &verdict);

/// Returns `text`, quoted for a shell if necessary.
std::string quoteWord(const std::string &text);

} // namespace tile::runner
